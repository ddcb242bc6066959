#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace evo {

/// A file that a compilation looked for in an include path.
struct Dependency {
  std::string path;     ///< absolute
  std::string content;  ///< its content key; empty: it was not there

  bool operator==(const Dependency&) const = default;
};

/// Whether all files still are as they were.
[[nodiscard]] bool is_current(const std::vector<Dependency>& dependencies);

/// While it lives, this process opens files inside the given folders only, and notes them. It works
/// by standing in front of the C library's functions that open files: in programs that link
/// file_watch_functions.cpp, also for libraries they load. Made for compilers: what is written,
/// what is no regular file and what lies elsewhere is refused as if it were not there.
class FileWatch {
 public:
  /// One at a time. `folders`: absolute, without links.
  explicit FileWatch(std::vector<std::filesystem::path> folders);
  ~FileWatch();
  FileWatch(const FileWatch&) = delete;
  FileWatch& operator=(const FileWatch&) = delete;

  /// By path.
  [[nodiscard]] std::vector<Dependency> dependencies() const;
  /// Files that are there and were refused, each once.
  [[nodiscard]] std::vector<std::string> refused() const;
  /// Whether anything was looked for at all: false says that the functions are not in front.
  [[nodiscard]] bool saw_anything() const;
};

namespace file_watch {

/// Whether a function in front of the C library's lets `path` be opened or looked at; true while
/// nothing is watched.
[[nodiscard]] bool admits(const char* path, bool writes);

}  // namespace file_watch
}  // namespace evo
