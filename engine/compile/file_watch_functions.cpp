// Replacements, for FileWatch, of the C library's functions that open or inspect files. The program
// exports the replacements, so the dynamic linker binds the calls of every loaded library to them.
// A replacement does the same as the C library's function, but while a FileWatch exists, it reports
// files that are not allowed as missing.

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "engine/compile/file_watch.hpp"

// EVO_IN_FRONT exports a function, so that loaded libraries call it in place of the C library's.
#define EVO_IN_FRONT extern "C" __attribute__((visibility("default"), used))

namespace {

bool writes(int flags) { return (flags & O_ACCMODE) != O_RDONLY || (flags & (O_CREAT | O_TRUNC)); }

int open_file(int folder, const char* path, int flags, mode_t mode) {
  // Does not check paths relative to another folder than the working folder, because compilers pass
  // no other folder to openat().
  if (folder == AT_FDCWD && !evo::file_watch::admits(path, writes(flags))) {
    errno = ENOENT;
    return -1;
  }
  return static_cast<int>(syscall(SYS_openat, folder, path, flags, mode));
}

int look_at(const char* path, struct stat* status, int flags) {
  if (!evo::file_watch::admits(path, false)) {
    errno = ENOENT;
    return -1;
  }
  return fstatat(AT_FDCWD, path, status, flags);
}

/// Converts a mode of fopen() to the flags of open(); -1 for an invalid mode.
int flags_of(const char* mode) {
  int flags = 0;
  switch (mode[0]) {
    case 'r':
      flags = O_RDONLY;
      break;
    case 'w':
      flags = O_WRONLY | O_CREAT | O_TRUNC;
      break;
    case 'a':
      flags = O_WRONLY | O_CREAT | O_APPEND;
      break;
    default:
      return -1;
  }
  if (std::strchr(mode, '+') != nullptr) flags = (flags & ~O_ACCMODE) | O_RDWR;
  if (std::strchr(mode, 'e') != nullptr) flags |= O_CLOEXEC;
  if (std::strchr(mode, 'x') != nullptr) flags |= O_EXCL;
  return flags;
}

FILE* open_stream(const char* path, const char* mode) {
  constexpr mode_t kAllMayReadAndWrite = 0666;  // the umask applies as in fopen()
  const int flags = flags_of(mode);
  if (flags < 0) {
    errno = EINVAL;
    return nullptr;
  }
  const int descriptor = open_file(AT_FDCWD, path, flags, kAllMayReadAndWrite);
  if (descriptor < 0) return nullptr;
  FILE* stream = fdopen(descriptor, mode);
  if (stream == nullptr) close(descriptor);
  return stream;
}

mode_t mode_argument(int flags, va_list arguments) {
  const bool makes = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
  return makes ? static_cast<mode_t>(va_arg(arguments, int)) : 0;
}

}  // namespace

// Names of functions and parameters below are those of the C library, so the linter does not check
// them.
// NOLINTBEGIN(readability-inconsistent-declaration-parameter-name, bugprone-reserved-identifier)
EVO_IN_FRONT int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_argument(flags, arguments);
  va_end(arguments);
  return open_file(AT_FDCWD, path, flags, mode);
}

EVO_IN_FRONT int open64(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_argument(flags, arguments);
  va_end(arguments);
  return open_file(AT_FDCWD, path, flags, mode);
}

EVO_IN_FRONT int openat(int folder, const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_argument(flags, arguments);
  va_end(arguments);
  return open_file(folder, path, flags, mode);
}

EVO_IN_FRONT int openat64(int folder, const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_argument(flags, arguments);
  va_end(arguments);
  return open_file(folder, path, flags, mode);
}

EVO_IN_FRONT FILE* fopen(const char* path, const char* mode) { return open_stream(path, mode); }
EVO_IN_FRONT FILE* fopen64(const char* path, const char* mode) { return open_stream(path, mode); }

EVO_IN_FRONT int stat(const char* path, struct stat* status) noexcept {
  return look_at(path, status, 0);
}
EVO_IN_FRONT int lstat(const char* path, struct stat* status) noexcept {
  return look_at(path, status, AT_SYMLINK_NOFOLLOW);
}

// Libraries that were built against an older C library call __xstat() and similar functions in
// place of stat(). On 64-bit Linux, struct stat64 equals struct stat.
EVO_IN_FRONT int __xstat(int, const char* path, struct stat* status) {
  return look_at(path, status, 0);
}
EVO_IN_FRONT int __xstat64(int, const char* path, struct stat* status) {
  return look_at(path, status, 0);
}
EVO_IN_FRONT int __lxstat(int, const char* path, struct stat* status) {
  return look_at(path, status, AT_SYMLINK_NOFOLLOW);
}
EVO_IN_FRONT int __lxstat64(int, const char* path, struct stat* status) {
  return look_at(path, status, AT_SYMLINK_NOFOLLOW);
}

EVO_IN_FRONT int access(const char* path, int mode) noexcept {
  if (!evo::file_watch::admits(path, false)) {
    errno = ENOENT;
    return -1;
  }
  return static_cast<int>(syscall(SYS_faccessat, AT_FDCWD, path, mode));
}
// NOLINTEND(readability-inconsistent-declaration-parameter-name, bugprone-reserved-identifier)
