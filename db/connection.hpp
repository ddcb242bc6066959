#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <cstdint>
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
#include "engine/core/zstd_frames.hpp"

namespace evo {

/// A prepared statement in use; reset, with its bindings cleared, at the end of the scope.
class Query {
 public:
  explicit Query(SQLite::Statement& statement) : statement_(&statement) {}
  ~Query();
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;

  /// Binds the next parameter. NaN becomes null, and so does an empty optional.
  Query& bind(std::int64_t value);
  Query& bind(int value) { return bind(static_cast<std::int64_t>(value)); }
  Query& bind(bool value) { return bind(static_cast<std::int64_t>(value)); }
  Query& bind(double value);
  Query& bind(std::string_view text);
  Query& bind(const char* text) { return bind(std::string_view(text)); }
  Query& bind(const std::string& text) { return bind(std::string_view(text)); }
  Query& bind_blob(std::string_view bytes);
  template <typename T>
  Query& bind(const std::optional<T>& value) {
    return value ? bind(*value) : bind_null();
  }
  Query& bind_null();

  /// True while there is a row to read.
  [[nodiscard]] bool next() { return statement_->executeStep(); }
  void run() { statement_->exec(); }

  // Columns of the current row, by position.
  [[nodiscard]] bool is_null(int column) const { return statement_->getColumn(column).isNull(); }
  [[nodiscard]] std::int64_t integer(int column) const;
  [[nodiscard]] int small(int column) const { return static_cast<int>(integer(column)); }
  /// Null reads as NaN.
  [[nodiscard]] double real(int column) const;
  [[nodiscard]] std::string text(int column) const {
    return statement_->getColumn(column).getString();
  }
  [[nodiscard]] int columns() const { return statement_->getColumnCount(); }
  /// Type and bytes of a value: equal exactly when the values are.
  [[nodiscard]] std::string exact(int column) const;
  [[nodiscard]] std::optional<std::int64_t> optional_integer(int column) const;
  [[nodiscard]] std::optional<double> optional_real(int column) const;
  [[nodiscard]] std::optional<std::string> optional_text(int column) const;

 private:
  SQLite::Statement* statement_;
  int next_parameter_ = 1;
};

/// One open SQLite database of ours: checks that it is, prepares it (write-ahead log, foreign keys,
/// waiting for other writers), and turns every SQLite error into a DbError that names the file.
class Connection {
 public:
  enum class Mode { kReadWrite, kReadOnly };

  /// See Store::open and Store::open_read_only. ":memory:" makes a database in memory.
  Connection(const std::filesystem::path& file, Mode mode, const WaitOptions& wait = {});
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// Calls `body` in a transaction that holds the write lock from its start, and returns its
  /// result. Rolls back when it throws. Waits while another process has the lock.
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

  /// Calls `body` in a transaction, so that all it reads is of one instant.
  template <typename Body>
  auto read(Body&& body) -> std::invoke_result_t<Body> {
    return guarded([&] {
      require_same_file();
      SQLite::Transaction transaction(database_);
      return body();
    });
  }

  /// A prepared statement, kept for the next use. `sql` must not be in use already.
  [[nodiscard]] Query query(std::string_view sql);
  [[nodiscard]] std::int64_t last_id() const { return database_.getLastInsertRowid(); }
  [[nodiscard]] SQLite::Database& database() { return database_; }
  [[nodiscard]] ZstdFrames& frames() { return frames_; }
  [[nodiscard]] const std::filesystem::path& file() const { return file_; }

  /// Throws DbError "file: message".
  [[noreturn]] void fail(const std::string& message) const;

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
  void prepare(Mode mode);
  /// Throws DbError, now and later, once the file is no longer the one that was opened.
  void require_same_file();
  void use_write_ahead_log();
  void require_our_version(const DatabaseHeader& header);
  void make_schema();
  [[noreturn]] void fail_with(const SQLite::Exception& error) const;

  std::filesystem::path file_;
  std::unique_ptr<LockWait> wait_;
  SQLite::Database database_;
  std::optional<OpenedFile> opened_;  ///< of a file that is written
  std::string lost_;                  ///< what happened to it; empty: nothing
  ZstdFrames frames_;
  std::map<std::string, SQLite::Statement, std::less<>> statements_;
};

}  // namespace evo
