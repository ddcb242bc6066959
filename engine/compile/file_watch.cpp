#include "engine/compile/file_watch.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <map>
#include <mutex>
#include <optional>
#include <set>

#include "engine/compile/compiler_options.hpp"
#include "engine/core/hash.hpp"

namespace evo {
namespace {

/// The state of the current FileWatch, which is global because the intercepted C functions have no
/// parameter for it.
struct Watched {
  std::mutex mutex;
  std::vector<std::filesystem::path> folders;
  std::map<std::string, std::string> dependencies;
  std::set<std::string> refused;
  bool saw_anything = false;
};

std::atomic<bool> is_watching{false};

Watched& watched() {
  static Watched state;
  return state;
}

/// Reads a file by system calls, which are not intercepted. Returns nullopt if the file cannot be
/// read, or has 64 MiB or more.
std::optional<std::string> content_of(const char* path) {
  constexpr std::size_t kMostBytes = std::size_t{64} << 20;
  const auto descriptor =
      static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC));
  if (descriptor < 0) return std::nullopt;
  std::string text;
  std::array<char, 65536> chunk{};
  ssize_t count = 0;
  while ((count = ::read(descriptor, chunk.data(), chunk.size())) > 0 && text.size() < kMostBytes) {
    text.append(chunk.data(), static_cast<std::size_t>(count));
  }
  ::close(descriptor);
  if (count < 0 || text.size() >= kMostBytes) return std::nullopt;
  return text;
}

/// A hash of a file's content; empty if there is no regular file `path` that content_of() can read.
std::string key_of(const char* path) {
  struct stat status {};
  if (fstatat(AT_FDCWD, path, &status, 0) != 0 || !S_ISREG(status.st_mode)) return {};
  const std::optional<std::string> text = content_of(path);
  return text ? content_key(*text) : std::string();
}

bool is_in_folders(const Watched& state, const std::filesystem::path& path) {
  return std::any_of(state.folders.begin(), state.folders.end(),
                     [&](const auto& folder) { return is_inside(path, folder); });
}

/// Records a missing file inside a watched folder, because the file may exist at the next
/// compilation.
bool take_absent(Watched& state, const char* path) {
  std::error_code error;
  const std::filesystem::path full = std::filesystem::absolute(path, error).lexically_normal();
  if (!error && is_in_folders(state, full)) state.dependencies.emplace(full.string(), "");
  return true;  // the C library reports the missing file
}

bool take(Watched& state, const char* path, bool writes) {
  state.saw_anything = true;
  std::array<char, PATH_MAX> real{};
  if (realpath(path, real.data()) == nullptr) return !writes && take_absent(state, path);
  struct stat status {};
  const bool known = fstatat(AT_FDCWD, real.data(), &status, 0) == 0;
  const bool inside = is_in_folders(state, real.data());
  if (known && inside && !writes && S_ISDIR(status.st_mode)) return true;
  std::error_code error;
  const std::filesystem::path full = std::filesystem::absolute(path, error).lexically_normal();
  const std::string name = error ? std::string(real.data()) : full.string();
  if (!known || !inside || writes || !S_ISREG(status.st_mode)) {
    if (!S_ISDIR(status.st_mode)) state.refused.insert(name);
    return false;
  }
  state.dependencies.emplace(name, key_of(real.data()));
  return true;
}

}  // namespace

bool is_current(const std::vector<Dependency>& dependencies) {
  return std::all_of(dependencies.begin(), dependencies.end(), [](const Dependency& dependency) {
    return key_of(dependency.path.c_str()) == dependency.content;
  });
}

FileWatch::FileWatch(std::vector<std::filesystem::path> folders) {
  Watched& state = watched();
  const std::lock_guard<std::mutex> lock(state.mutex);
  state.folders = std::move(folders);
  state.dependencies.clear();
  state.refused.clear();
  state.saw_anything = false;
  is_watching = true;
}

FileWatch::~FileWatch() { is_watching = false; }

std::vector<Dependency> FileWatch::dependencies() const {
  Watched& state = watched();
  const std::lock_guard<std::mutex> lock(state.mutex);
  std::vector<Dependency> list;
  for (const auto& [path, content] : state.dependencies) list.push_back({path, content});
  return list;
}

std::vector<std::string> FileWatch::refused() const {
  Watched& state = watched();
  const std::lock_guard<std::mutex> lock(state.mutex);
  return {state.refused.begin(), state.refused.end()};
}

bool FileWatch::saw_anything() const {
  Watched& state = watched();
  const std::lock_guard<std::mutex> lock(state.mutex);
  return state.saw_anything;
}

bool file_watch::admits(const char* path, bool writes) {
  if (!is_watching || path == nullptr) return true;
  Watched& state = watched();
  const std::lock_guard<std::mutex> lock(state.mutex);
  return take(state, path, writes);
}

}  // namespace evo
