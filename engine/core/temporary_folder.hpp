#pragma once

#include <filesystem>
#include <string>

namespace evo {

/// Where temporary files belong, as a whole path: what TMPDIR, TMP, TEMP or TEMPDIR names, or /tmp.
/// Throws InputError that names the variable where that is no folder.
[[nodiscard]] std::filesystem::path temporary_place();

/// A folder of its own that goes with this.
class TemporaryFolder {
 public:
  /// Called `name`-XXXXXX in temporary_place(). Throws InputError when none can be made.
  explicit TemporaryFolder(const std::string& name);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace evo
