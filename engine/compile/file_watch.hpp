#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace evo {

/// A file that a compilation looked for in an include path.
struct Dependency {
  std::string path;     ///< absolute
  std::string content;  ///< its content key; empty if it did not exist

  bool operator==(const Dependency&) const = default;
};

/// Whether all files are unchanged.
[[nodiscard]] bool is_current(const std::vector<Dependency>& dependencies);

/// During its lifetime, this process opens only files inside the given folders, and records them.
/// It intercepts the C library's functions that open files, in programs that link
/// file_watch_functions.cpp, including calls from libraries they load. It is meant for compilers:
/// writing, special files and files elsewhere fail as if the file did not exist.
class FileWatch {
 public:
  /// Only one may exist at a time. `folders`: absolute, without links.
  explicit FileWatch(std::vector<std::filesystem::path> folders);
  ~FileWatch();
  FileWatch(const FileWatch&) = delete;
  FileWatch& operator=(const FileWatch&) = delete;

  /// Sorted by path.
  [[nodiscard]] std::vector<Dependency> dependencies() const;
  /// Existing files that were refused, without repetition.
  [[nodiscard]] std::vector<std::string> refused() const;
  /// Whether any file was looked for. False means that the C library's functions are not
  /// intercepted.
  [[nodiscard]] bool saw_anything() const;
};

namespace file_watch {

/// Whether an intercepted function may open or look at `path`. Always true while nothing is
/// watched.
[[nodiscard]] bool admits(const char* path, bool writes);

}  // namespace file_watch
}  // namespace evo
