#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <string>

struct sqlite3;

namespace evo {

/// How to wait while another process has a database locked.
struct WaitOptions {
  /// The longest wait. Default: EVO_DB_WAIT_SECONDS, else 300 s. Throws DbError for a value of the
  /// variable that is no whole number from 0 to 86400.
  [[nodiscard]] static std::chrono::milliseconds default_limit();
  std::chrono::milliseconds limit = default_limit();
  /// Once true, a wait ends soon. Null: nothing interrupts it.
  const std::atomic<bool>* stop = nullptr;
  /// Told what takes long: once for each long wait, what is waited for. By default a line on
  /// standard error.
  std::function<void(const std::string&)> notice = print_notice;

  static void print_notice(const std::string& line);
};

/// Waits for the lock of one database file, in place of SQLite's own busy timeout, which is silent
/// and cannot be interrupted. Must outlive the connections it is installed in.
class LockWait {
 public:
  LockWait(std::filesystem::path file, WaitOptions options);
  LockWait(const LockWait&) = delete;
  LockWait& operator=(const LockWait&) = delete;

  void install(sqlite3* connection);
  /// An operation begins: its wait is counted from the first time it finds the file locked.
  void start();
  /// Sleeps for an instant. False when the time is over or the wait was interrupted.
  [[nodiscard]] bool wait();

  [[nodiscard]] bool was_interrupted() const { return interrupted_; }
  /// What ended in vain: "was locked by process 12 (sqlite3) for 300 s".
  [[nodiscard]] std::string in_vain() const;

 private:
  using Clock = std::chrono::steady_clock;

  std::filesystem::path file_;
  WaitOptions options_;
  Clock::time_point began_{};  ///< zero: nothing was locked yet
  Clock::time_point stopped_{};
  bool told_ = false;
  bool interrupted_ = false;
};

/// The processes that hold a lock on the database, from /proc/locks: "process 12 (sqlite3)"; where
/// the system does not say, "another process". Opens nothing: closing any descriptor of the file
/// would give up this process's own locks (fcntl(2)).
[[nodiscard]] std::string lock_holders(const std::filesystem::path& file);

}  // namespace evo
