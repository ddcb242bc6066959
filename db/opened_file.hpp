#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

struct sqlite3;

namespace evo {

/// The files of an open database: the database, its write-ahead log and the index of the log.
/// SQLite finds the latter two by the name of the first. Once another file has that name, a
/// transaction would go where nobody finds it, and the log would be applied to the other file.
class OpenedFile {
 public:
  /// `file` is the name it was opened by, `database` the connection, which has read from it.
  OpenedFile(std::filesystem::path file, sqlite3* database);

  /// What has happened to the files since, as the end of a sentence about the name: "was replaced
  /// by another file". Empty when they are those that were opened. To be asked before each
  /// transaction.
  [[nodiscard]] std::string change() const;

  /// After a change: brings what the log holds to the database that was opened, and empties the
  /// log, so that it does no harm to the file that has the name now. A database that was
  /// overwritten gets nothing. No transaction may be open. Returns where what was stored is, and
  /// what is left to do for a person.
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
  /// The entry of /proc/self/fd of a descriptor that SQLite holds; empty when there is none.
  [[nodiscard]] static std::filesystem::path descriptor_of(const Identity& identity);
  [[nodiscard]] static bool locked_by_others(const Identity& identity, off_t start, off_t bytes);
  /// True when the file no longer begins as a database does.
  [[nodiscard]] bool was_overwritten() const;
  [[nodiscard]] bool empties_log(bool overwritten) const;

  std::filesystem::path file_;
  sqlite3* database_;
  Part main_, log_, index_;
};

}  // namespace evo
