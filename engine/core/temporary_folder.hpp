#pragma once

#include <filesystem>
#include <string>

namespace evo {

/// The absolute path of the folder for temporary files: the folder named by TMPDIR, TMP, TEMP or
/// TEMPDIR, or /tmp. Throws InputError naming the variable if its value is no folder.
[[nodiscard]] std::filesystem::path temporary_place();

/// A new folder that the destructor removes.
class TemporaryFolder {
 public:
  /// Makes the folder `name`-XXXXXX in temporary_place(). Throws InputError if the folder cannot be
  /// made.
  explicit TemporaryFolder(const std::string& name);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace evo
