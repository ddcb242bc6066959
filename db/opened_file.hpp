#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

struct sqlite3;

namespace evo {

/// The files of an open database: the database, its write-ahead log (-wal) and the index of the log
/// (-shm).
/// SQLite finds the log and its index by the name of the database. If another file gets the
/// database's name while the database is open, SQLite would write transactions to the old file, or
/// apply the log to the wrong database.
class OpenedFile {
 public:
  /// `file`: the name by which the database was opened; `database`: the connection, which must
  /// already have read from the file.
  OpenedFile(std::filesystem::path file, sqlite3* database);

  /// Says how the files have changed since they were opened, such as "was replaced by another
  /// file"; empty if they have not changed. Call this function before each transaction.
  [[nodiscard]] std::string change() const;

  /// Call part() after change() has found a change, outside any transaction. If no other process
  /// has the database open, part() moves the log's content to the database that was opened (unless
  /// this database was overwritten) and empties the log, so that the log cannot damage the file
  /// that now has the database's name. Returns a text that says where the stored data are and, if
  /// the log was not emptied, what the user should do.
  [[nodiscard]] std::string part() const;

 private:
  struct Identity {
    dev_t device = 0;
    ino_t node = 0;
    bool operator==(const Identity&) const = default;
  };
  struct Part {
    std::string name;
    Identity identity;
  };

  [[nodiscard]] static Identity identity_of(const std::string& name);
  /// The path in /proc/self/fd of a descriptor of this process for the file, or empty.
  [[nodiscard]] static std::filesystem::path descriptor_of(const Identity& identity);
  [[nodiscard]] static bool locked_by_others(const Identity& identity, off_t start, off_t bytes);
  /// True if the file no longer begins with the bytes of an SQLite database.
  [[nodiscard]] bool was_overwritten() const;
  [[nodiscard]] bool empties_log(bool overwritten) const;

  std::filesystem::path file_;
  sqlite3* database_;
  Part main_, log_, index_;
};

}  // namespace evo
