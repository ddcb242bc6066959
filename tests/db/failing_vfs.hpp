#pragma once

#include <cstdint>

namespace evo {

/// A file system for SQLite on which chosen changes of files fail (see fail()). After construction,
/// SQLite uses this file system for every opened database; the destructor restores the previous
/// file system.
class FailingVfs {
 public:
  FailingVfs();
  ~FailingVfs();
  FailingVfs(const FailingVfs&) = delete;
  FailingVfs& operator=(const FailingVfs&) = delete;

  /// Makes `count` changes (writes, syncs or truncations) fail with the SQLite error `code`, from
  /// the `change`-th change on (1 is the next change). A write that fails with SQLITE_FULL writes
  /// half of its data.
  void fail(std::int64_t change, std::int64_t count, int code);
  void fail_never();
  /// The number of changes since the last call of fail() or fail_never().
  [[nodiscard]] std::int64_t changes() const;
};

}  // namespace evo
