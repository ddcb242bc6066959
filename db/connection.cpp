#include "db/connection.hpp"

#include <sqlite3.h>

#include "engine/core/missing_file.hpp"

namespace evo {

namespace fs = std::filesystem;

Connection::Connection(const fs::path& file, Mode mode, const WaitOptions& wait)
    : file_(file), wait_(std::make_unique<LockWait>(file, wait)), database_(open(mode)) {
  guarded([&] { prepare(mode); });
  if (mode == Mode::kReadWrite && !in_memory(file_)) opened_.emplace(file_, database_.getHandle());
}

void Connection::require_same_file() {
  if (!opened_) return;
  if (lost_.empty()) {
    lost_ = opened_->change();
    if (lost_.empty()) return;
    lost_ += " while this program had it open; " + opened_->part();
  }
  fail("{}", lost_);
}

SQLite::Database Connection::open(Mode mode) {
  std::error_code ignored;
  if (!in_memory(file_)) require_database_file(file_);
  if (mode == Mode::kReadOnly && !in_memory(file_) && !fs::exists(file_, ignored)) {
    fail("no such file{}; evo-tune --db makes it", missing_file_hint(file_));
  }
  return guarded([&] {
    return mode == Mode::kReadOnly ? open_for_reading(file_, *wait_)
                                   : open_for_writing(file_, *wait_);
  });
}

void Connection::prepare(Mode mode) {
  const DatabaseHeader header = [&] {
    const SQLite::Transaction transaction(database_);
    return read_header(database_);
  }();
  if (!header.is_fresh()) require_our_version(header);
  const std::string damage = structural_damage(database_);
  if (!damage.empty())
    fail("is damaged: {}; restore a backup, or name another file by --db", damage);
  const std::string changed = header.is_fresh() ? "" : schema_damage(database_);
  if (!changed.empty()) {
    fail(
        "is damaged: its schema lacks '{}' or defines it differently; restore a backup, or name "
        "another file by --db",
        changed);
  }
  if (mode == Mode::kReadOnly) {
    if (header.is_fresh()) fail("is empty: no run was recorded yet");
    return;
  }
  // SQLite silently opens a read-only file for reading and fails only at the first write.
  if (sqlite3_db_readonly(database_.getHandle(), "main") == 1)
    fail("may not be written; check the permissions of the file and of its folder");
  use_write_ahead_log();
  // With the write-ahead log, `synchronous = NORMAL` loses nothing if a process is killed. A power
  // failure may undo the latest transactions but never corrupts the file
  // (https://sqlite.org/pragma.html#pragma_synchronous).
  database_.exec("PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON");
  if (header.is_fresh()) make_schema();
}

void Connection::require_our_version(const DatabaseHeader& header) {
  if (header.application == kApplicationId && header.version == kSchemaVersion) return;
  keep_log(database_, file_);
  if (header.application != kApplicationId) {
    fail(
        "is a database of another program; the file was not changed\n"
        "next step: name another file by --db");
  }
  const bool newer = header.version > kSchemaVersion;
  fail(
      "was made by {} evo-tune: its schema is version {}, this evo-tune reads version {} only; the "
      "file was not changed\nnext step: {}, or name another file by --db to start a new database",
      newer ? "a newer" : "an older", header.version, kSchemaVersion,
      newer ? "open it with that evo-tune" : "keep the older evo-tune to read it");
}

void Connection::make_schema() {
  write([&] {
    // Reads the header again now that this process has the write lock, because another process may
    // just have created the schema.
    const DatabaseHeader header = read_header(database_);
    if (!header.is_fresh()) return require_our_version(header);
    database_.exec(schema());
    database_.exec("PRAGMA application_id = " + std::to_string(kApplicationId) +
                   "; PRAGMA user_version = " + std::to_string(kSchemaVersion));
  });
}

void Connection::use_write_ahead_log() {
  if (database_.execAndGet("PRAGMA journal_mode").getString() == "wal") return;
  // Switching to the write-ahead log needs exclusive access to the file. SQLite does not always
  // wait until other processes have closed the file, so this loop waits and tries again.
  while (true) {
    try {
      database_.execAndGet("PRAGMA journal_mode = WAL");
      (void)read_header(database_);  // the first read creates the log
      return;
    } catch (const SQLite::Exception& error) {
      const int code = error.getErrorCode();
      if ((code != SQLITE_BUSY && code != SQLITE_LOCKED) || !wait_->wait()) throw;
    }
  }
}

SQLite::Statement& Connection::prepared(std::string_view sql) {
  auto found = statements_.find(sql);
  if (found == statements_.end()) {
    std::string text(sql);
    SQLite::Statement statement(database_, text);
    found = statements_.emplace(std::move(text), std::move(statement)).first;
  }
  return found->second;
}

void Connection::fail_with(const SQLite::Exception& error) const {
  constexpr const char* kIntact = "earlier results are intact";
  const std::string original = fmt::format("(SQLite: {})", error.what());
  switch (error.getErrorCode()) {
    case SQLITE_FULL:
      fail(
          "the disk is full; the last transaction was not written, {} {}\n"
          "next step: free space on the disk, or name a file on another disk by --db",
          kIntact, original);
    case SQLITE_IOERR:
      fail(
          "could not be read or written; {} {}\n"
          "next step: check for a full disk (df), a limit of file sizes (ulimit -f) and disk "
          "errors (dmesg); "
          "or name a file on another disk by --db",
          kIntact, original);
    case SQLITE_READONLY:
      fail("may not be written; check the permissions of the file and of its folder {}", original);
    case SQLITE_CANTOPEN:
      fail("cannot be opened; does its folder exist, and may you write to it? {}", original);
    case SQLITE_NOTADB:
      fail("is not a database; name another file by --db {}", original);
    case SQLITE_CORRUPT:
      fail("is damaged; restore a backup, or name another file by --db {}", original);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      if (wait_->was_interrupted()) {
        throw Error(ExitCode::kInterrupted, fmt::format("{}: {}; interrupted; {}", file_.string(),
                                                        wait_->in_vain(), kIntact));
      }
      fail("{}; {}. EVO_DB_WAIT_SECONDS sets how long to wait", wait_->in_vain(), kIntact);
    default:
      fail("{}", error.what());
  }
}

}  // namespace evo
