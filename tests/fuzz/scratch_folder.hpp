#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace evo::fuzz {

/// A temporary folder, in memory if possible, for fuzz targets that test functions which read a
/// named file. The destructor removes the folder.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// Writes a file and returns its path.
  std::filesystem::path write(const std::string& name, std::string_view content) const;

 private:
  std::filesystem::path path_;
};

}  // namespace evo::fuzz
