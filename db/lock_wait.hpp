#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <string>

struct sqlite3;

namespace evo {

/// How to wait while another process has locked the database.
struct WaitOptions {
  /// The longest wait. The value of the environment variable EVO_DB_WAIT_SECONDS, or 300 s if it is
  /// not set. Throws DbError if the variable is not a whole number from 0 to 86400.
  [[nodiscard]] static std::chrono::milliseconds default_limit();
  std::chrono::milliseconds limit = default_limit();
  /// A wait ends about two seconds after `*stop` becomes true; a null `stop` interrupts no wait.
  const std::atomic<bool>* stop = nullptr;
  /// Called with a line that describes the wait, once a wait has lasted two seconds, or half of
  /// `limit` if that is shorter; the default prints the line to standard error.
  std::function<void(const std::string&)> notice = print_notice;

  static void print_notice(const std::string& line);
};

/// Waits for the lock of one database file. LockWait replaces SQLite's busy timeout, which is
/// silent and cannot be interrupted. A LockWait must outlive the connections in which it is
/// installed.
class LockWait {
 public:
  LockWait(std::filesystem::path file, WaitOptions options);
  LockWait(const LockWait&) = delete;
  LockWait& operator=(const LockWait&) = delete;

  void install(sqlite3* connection);
  /// Call start() before each operation on the database. The time limit of the operation begins
  /// when SQLite first finds the file locked.
  void start();
  /// Sleeps for at most 50 ms. Returns false, without sleeping, if the time limit is reached or the
  /// wait was interrupted.
  [[nodiscard]] bool wait();

  [[nodiscard]] bool was_interrupted() const { return interrupted_; }
  /// Describes a wait that failed: "was locked by process 12 (sqlite3) for 300 s".
  [[nodiscard]] std::string in_vain() const;

 private:
  using Clock = std::chrono::steady_clock;

  std::filesystem::path file_;
  WaitOptions options_;
  Clock::time_point began_{};    ///< zero: this operation has not found the file locked yet
  Clock::time_point stopped_{};  ///< zero: this operation has not found `*stop` true yet
  bool told_ = false;
  bool interrupted_ = false;
};

/// The other processes that hold a write lock on the database file or on a file that SQLite keeps
/// beside it (-wal, -shm, -journal), from /proc/locks: "process 12 (sqlite3)"; "another process" if
/// /proc/locks does not name any. Does not open the database, because closing any descriptor of the
/// file would release this process's own locks (fcntl(2)).
[[nodiscard]] std::string lock_holders(const std::filesystem::path& file);

}  // namespace evo
