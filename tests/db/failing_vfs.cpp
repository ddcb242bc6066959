#include "tests/db/failing_vfs.hpp"

#include <sqlite3.h>

#include <cstddef>
#include <limits>
#include <new>

namespace evo {
namespace {

/// The state is global, because SQLite passes no pointer of the caller to a file's callbacks.
struct State {
  sqlite3_vfs* real = nullptr;
  sqlite3_vfs vfs = {};
  std::int64_t changes = 0;
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  std::int64_t count = 0;
  int code = SQLITE_OK;
};

State state;

/// An open file of FailingVfs. SQLite allocates memory for this structure and for that of the real
/// file system, which follows it.
struct File {
  sqlite3_file base;
  [[nodiscard]] sqlite3_file* real() {
    return reinterpret_cast<sqlite3_file*>(reinterpret_cast<std::byte*>(this) + sizeof(File));
  }
};

sqlite3_file* real(sqlite3_file* file) { return reinterpret_cast<File*>(file)->real(); }

/// Counts a change of a file, and returns the SQLite result code that the change must have.
int next_change() {
  const std::int64_t number = ++state.changes;
  const bool fails = number >= state.first && number - state.first < state.count;
  return fails ? state.code : SQLITE_OK;
}

int write(sqlite3_file* file, const void* data, int bytes, sqlite3_int64 offset) {
  const int code = next_change();
  if (code == SQLITE_FULL) {
    (void)real(file)->pMethods->xWrite(real(file), data, bytes / 2, offset);
  }
  return code == SQLITE_OK ? real(file)->pMethods->xWrite(real(file), data, bytes, offset) : code;
}

int truncate(sqlite3_file* file, sqlite3_int64 size) {
  const int code = next_change();
  return code == SQLITE_OK ? real(file)->pMethods->xTruncate(real(file), size) : code;
}

/// Does not call fsync(), which would take most of the time and matters only for power failures.
int sync(sqlite3_file*, int) { return next_change(); }

const sqlite3_io_methods& methods() {
  static const sqlite3_io_methods table = [] {
    sqlite3_io_methods m = {};
    m.iVersion = 2;
    m.xClose = [](sqlite3_file* f) { return real(f)->pMethods->xClose(real(f)); };
    m.xRead = [](sqlite3_file* f, void* to, int bytes, sqlite3_int64 offset) {
      return real(f)->pMethods->xRead(real(f), to, bytes, offset);
    };
    m.xWrite = write;
    m.xTruncate = truncate;
    m.xSync = sync;
    m.xFileSize = [](sqlite3_file* f, sqlite3_int64* size) {
      return real(f)->pMethods->xFileSize(real(f), size);
    };
    m.xLock = [](sqlite3_file* f, int l) { return real(f)->pMethods->xLock(real(f), l); };
    m.xUnlock = [](sqlite3_file* f, int l) { return real(f)->pMethods->xUnlock(real(f), l); };
    m.xCheckReservedLock = [](sqlite3_file* f, int* out) {
      return real(f)->pMethods->xCheckReservedLock(real(f), out);
    };
    m.xFileControl = [](sqlite3_file* f, int op, void* argument) {
      return real(f)->pMethods->xFileControl(real(f), op, argument);
    };
    m.xSectorSize = [](sqlite3_file* f) { return real(f)->pMethods->xSectorSize(real(f)); };
    m.xDeviceCharacteristics = [](sqlite3_file* f) {
      return real(f)->pMethods->xDeviceCharacteristics(real(f));
    };
    m.xShmMap = [](sqlite3_file* f, int page, int size, int extend, void volatile** out) {
      return real(f)->pMethods->xShmMap(real(f), page, size, extend, out);
    };
    m.xShmLock = [](sqlite3_file* f, int offset, int n, int flags) {
      return real(f)->pMethods->xShmLock(real(f), offset, n, flags);
    };
    m.xShmBarrier = [](sqlite3_file* f) { real(f)->pMethods->xShmBarrier(real(f)); };
    m.xShmUnmap = [](sqlite3_file* f, int remove) {
      return real(f)->pMethods->xShmUnmap(real(f), remove);
    };
    return m;
  }();
  return table;
}

int open(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* out_flags) {
  File* ours = new (file) File{};
  const int code = state.real->xOpen(state.real, name, ours->real(), flags, out_flags);
  ours->base.pMethods = ours->real()->pMethods != nullptr ? &methods() : nullptr;
  return code;
}

}  // namespace

FailingVfs::FailingVfs() {
  state = {};
  state.real = sqlite3_vfs_find(nullptr);
  state.vfs = *state.real;
  state.vfs.zName = "failing";
  state.vfs.pNext = nullptr;
  state.vfs.szOsFile = static_cast<int>(sizeof(File)) + state.real->szOsFile;
  state.vfs.xOpen = open;
  sqlite3_vfs_register(&state.vfs, 1);
}

FailingVfs::~FailingVfs() {
  sqlite3_vfs_unregister(&state.vfs);
  sqlite3_vfs_register(state.real, 1);
}

void FailingVfs::fail(std::int64_t change, std::int64_t count, int code) {
  state.changes = 0;
  state.first = change;
  state.count = count;
  state.code = code;
}

void FailingVfs::fail_never() { fail(std::numeric_limits<std::int64_t>::max(), 0, SQLITE_OK); }

std::int64_t FailingVfs::changes() const { return state.changes; }

}  // namespace evo
