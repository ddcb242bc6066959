#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace evo::fuzz {

/// A temporary folder for readers that take a file name, in memory if possible. The folder is
/// removed when the process ends.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// Writes a file and returns its name.
  std::filesystem::path write(const std::string& name, std::string_view content) const;

 private:
  std::filesystem::path path_;
};

}  // namespace evo::fuzz
