#pragma once

#include <cstdint>

namespace evo {

/// A file system for SQLite on which the n-th change of a file fails. After construction, SQLite
/// uses it for every database opened; the destructor restores the former one.
class FailingVfs {
 public:
  FailingVfs();
  ~FailingVfs();
  FailingVfs(const FailingVfs&) = delete;
  FailingVfs& operator=(const FailingVfs&) = delete;

  /// From the `change`-th write, sync or truncation on (1 is the next), `count` of them fail with
  /// the SQLite error `code`. A write that fails with SQLITE_FULL writes half of its data.
  void fail(std::int64_t change, std::int64_t count, int code);
  void fail_never();
  /// Changes since the last call of fail() or fail_never().
  [[nodiscard]] std::int64_t changes() const;
};

}  // namespace evo
