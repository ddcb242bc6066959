#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace evo::fuzz {

/// A temporary folder for targets whose readers take a file name, in memory if possible. The
/// destructor removes the folder.
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
