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
  /// The longest wait. Default: EVO_DB_WAIT_SECONDS, else 300 s. Throws DbError if the variable is
  /// not a whole number from 0 to 86400.
  [[nodiscard]] static std::chrono::milliseconds default_limit();
  std::chrono::milliseconds limit = default_limit();
  /// Once `*stop` is true, a wait ends soon. Null: waits are not interrupted.
  const std::atomic<bool>* stop = nullptr;
  /// Called once for each long wait, with a description of the wait. Prints to standard error by
  /// default.
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
  /// Begins an operation, whose waiting time is counted from the first time the file is locked.
  void start();
  /// Sleeps for a moment. False if the time is over or the wait was interrupted.
  [[nodiscard]] bool wait();

  [[nodiscard]] bool was_interrupted() const { return interrupted_; }
  /// Describes the failed wait: "was locked by process 12 (sqlite3) for 300 s".
  [[nodiscard]] std::string in_vain() const;

 private:
  using Clock = std::chrono::steady_clock;

  std::filesystem::path file_;
  WaitOptions options_;
  Clock::time_point began_{};  ///< zero: the file has not been locked yet
  Clock::time_point stopped_{};
  bool told_ = false;
  bool interrupted_ = false;
};

/// The processes that hold a lock on the database, from /proc/locks: "process 12 (sqlite3)";
/// "another process" if /proc/locks does not name any. Opens no file, because closing any
/// descriptor of the database would release this process's own locks (fcntl(2)).
[[nodiscard]] std::string lock_holders(const std::filesystem::path& file);

}  // namespace evo
