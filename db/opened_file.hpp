#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

struct sqlite3;

namespace evo {

/// The files of an open database: the database, its write-ahead log and the index of the log.
/// SQLite finds the latter two by the name of the first. If another file takes that name, a
/// transaction would be written to an unreachable file, and the log would be applied to the wrong
/// database.
class OpenedFile {
 public:
  /// `file`: the name by which it was opened; `database`: the connection, which must already have
  /// read from it.
  OpenedFile(std::filesystem::path file, sqlite3* database);

  /// The change of the files since then, as the end of a sentence about the name: "was replaced by
  /// another file". Empty if they are unchanged. Call it before each transaction.
  [[nodiscard]] std::string change() const;

  /// After a change: moves the content of the log to the database that was opened, and empties the
  /// log, so that it cannot damage the file that has the name now. Nothing is written to a database
  /// that was overwritten. No transaction may be open. Returns where the stored data are, and what
  /// the user should do.
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
  /// The entry in /proc/self/fd of a descriptor that SQLite holds; empty if there is none.
  [[nodiscard]] static std::filesystem::path descriptor_of(const Identity& identity);
  [[nodiscard]] static bool locked_by_others(const Identity& identity, off_t start, off_t bytes);
  /// True if the file no longer begins like a database.
  [[nodiscard]] bool was_overwritten() const;
  [[nodiscard]] bool empties_log(bool overwritten) const;

  std::filesystem::path file_;
  sqlite3* database_;
  Part main_, log_, index_;
};

}  // namespace evo
