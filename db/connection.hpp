#pragma once

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "db/database_file.hpp"
#include "db/lock_wait.hpp"
#include "db/opened_file.hpp"
#include "db/query.hpp"
#include "engine/core/error.hpp"
#include "engine/core/zstd_frames.hpp"

namespace evo {

/// An open database of this project. The constructor verifies the file; for kReadWrite, it also
/// sets up the write-ahead log and foreign keys, and the schema of a new database. The constructor,
/// write() and read() wait for other writers, and turn SQLite's errors into DbErrors that name the
/// file. A wait that a signal ended becomes an Error with ExitCode::kInterrupted.
class Connection {
 public:
  enum class Mode { kReadWrite, kReadOnly };

  /// Opens `file` as Store::open() or Store::open_read_only() does, or a database in memory if
  /// `file` is ":memory:".
  Connection(const std::filesystem::path& file, Mode mode, const WaitOptions& wait = {});
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// Calls `body` in a transaction that holds the write lock from its start, and returns the result
  /// of `body`. Rolls back if `body` throws. Waits while another process has the lock, at most
  /// WaitOptions::limit.
  template <typename Body>
  auto write(Body&& body) -> std::invoke_result_t<Body> {
    return guarded([&] {
      require_same_file();
      SQLite::Transaction transaction(database_, SQLite::TransactionBehavior::IMMEDIATE);
      if constexpr (std::is_void_v<std::invoke_result_t<Body&>>) {
        body();
        transaction.commit();
      } else {
        auto result = body();
        transaction.commit();
        return result;
      }
    });
  }

  /// Calls `body` in a transaction, so that all reads in `body` see the same state of the database,
  /// and returns the result of `body`.
  template <typename Body>
  auto read(Body&& body) -> std::invoke_result_t<Body> {
    return guarded([&] {
      require_same_file();
      SQLite::Transaction transaction(database_);
      return body();
    });
  }

  /// Prepares the statement `sql` or takes it from a cache. Only one Query at a time may exist for
  /// the same `sql`.
  template <typename... Values>
  [[nodiscard]] Query query(std::string_view sql, const Values&... values) {
    return Query(prepared(sql), values...);
  }
  /// Runs a statement that returns no rows. Returns the number of changed rows.
  template <typename... Values>
  int run(std::string_view sql, const Values&... values) {
    query(sql, values...).run();
    return database_.getChanges();
  }
  /// Whether a transaction has found that the database's files were replaced or deleted.
  [[nodiscard]] bool is_lost() const { return !lost_.empty(); }
  [[nodiscard]] std::int64_t last_id() const { return database_.getLastInsertRowid(); }
  [[nodiscard]] SQLite::Database& database() { return database_; }
  [[nodiscard]] ZstdFrames& frames() { return frames_; }

  /// Throws DbError "file: message".
  template <typename... Values>
  [[noreturn]] void fail(fmt::format_string<Values...> format, Values&&... values) const {
    throw DbError(file_.string() + ": " + fmt::format(format, std::forward<Values>(values)...));
  }

 private:
  template <typename Body>
  auto guarded(Body&& body) -> std::invoke_result_t<Body> {
    wait_->start();
    try {
      return body();
    } catch (const SQLite::Exception& error) {
      fail_with(error);
    }
  }

  [[nodiscard]] SQLite::Database open(Mode mode);
  [[nodiscard]] SQLite::Statement& prepared(std::string_view sql);
  void prepare(Mode mode);
  /// In mode kReadWrite, throws DbError if the database file was replaced, deleted, renamed or
  /// overwritten, or its write-ahead log or the log's index was replaced or deleted, now or before
  /// an earlier call.
  void require_same_file();
  void use_write_ahead_log();
  void require_our_version(const DatabaseHeader& header);
  void make_schema();
  [[noreturn]] void fail_with(const SQLite::Exception& error) const;

  std::filesystem::path file_;
  std::unique_ptr<LockWait> wait_;
  SQLite::Database database_;
  std::optional<OpenedFile> opened_;  ///< set in mode kReadWrite, except for ":memory:"
  std::string lost_;                  ///< why the file cannot be used any more; empty if it can
  ZstdFrames frames_;
  std::map<std::string, SQLite::Statement, std::less<>> statements_;
};

}  // namespace evo
