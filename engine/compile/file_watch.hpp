#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/core/dependency.hpp"

namespace evo {

/// Whether all files in `dependencies` are unchanged since the compilation that looked for them.
[[nodiscard]] bool is_current(const std::vector<Dependency>& dependencies);

/// While this object exists, the process can open only files inside the given folders. FileWatch
/// records each file that the process opens or looks for in these folders, even if the file does
/// not exist. FileWatch intercepts the functions of the C library that open files, including
/// calls from loaded libraries, in programs that link file_watch_functions.cpp. FileWatch is meant
/// for compilers: writing, and opening special files or files elsewhere, fail as if the file did
/// not exist.
class FileWatch {
 public:
  /// Only one FileWatch may exist at a time. `folders`: absolute, without links.
  explicit FileWatch(std::vector<std::filesystem::path> folders);
  ~FileWatch();
  FileWatch(const FileWatch&) = delete;
  FileWatch& operator=(const FileWatch&) = delete;

  /// The recorded files, sorted by path.
  [[nodiscard]] std::vector<Dependency> dependencies() const;
  /// The paths of the existing files that this FileWatch hid from the process or did not let the
  /// process write; without folders; each path once.
  [[nodiscard]] std::vector<std::string> refused() const;
  /// Whether the process has called an intercepted function; false after a compilation means that
  /// this program does not intercept the C library's functions.
  [[nodiscard]] bool saw_anything() const;
};

namespace file_watch {

/// Whether an intercepted function may open or inspect `path`; always true while no FileWatch
/// exists.
[[nodiscard]] bool admits(const char* path, bool writes);

}  // namespace file_watch
}  // namespace evo
