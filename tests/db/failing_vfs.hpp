#pragma once

#include <cstdint>

namespace evo {

/// A file system for SQLite on which the n-th change of a file fails. Constructed, it is what
/// SQLite uses for every database opened from now on; destroyed, the former one is again.
class FailingVfs {
 public:
  FailingVfs();
  ~FailingVfs();
  FailingVfs(const FailingVfs&) = delete;
  FailingVfs& operator=(const FailingVfs&) = delete;

  /// From the `change`-th write, sync or truncation from now on, 1 being the next, `count` of them
  /// fail with the SQLite error `code`. A write that fails with SQLITE_FULL leaves half of it.
  void fail(std::int64_t change, std::int64_t count, int code);
  void fail_never();
  /// Changes since the last call of fail() or fail_never().
  [[nodiscard]] std::int64_t changes() const;
};

}  // namespace evo
