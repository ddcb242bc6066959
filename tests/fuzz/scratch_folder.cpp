#include "tests/fuzz/scratch_folder.hpp"

#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <system_error>

namespace evo::fuzz {

ScratchFolder::ScratchFolder() {
  std::error_code ignored;
  const std::filesystem::path memory = "/dev/shm";
  const auto parent = std::filesystem::is_directory(memory, ignored)
                          ? memory
                          : std::filesystem::temp_directory_path();
  std::string name = (parent / "evo-fuzz-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make a folder " + name);
  path_ = name;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::filesystem::path ScratchFolder::write(const std::string& name,
                                           std::string_view content) const {
  const std::filesystem::path file = path_ / name;
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  out.write(content.data(), static_cast<std::streamsize>(content.size()));
  if (!out.flush()) throw std::runtime_error("cannot write " + file.string());
  return file;
}

}  // namespace evo::fuzz
