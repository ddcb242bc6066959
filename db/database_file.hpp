#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "db/lock_wait.hpp"

namespace evo {

/// The first bytes of every SQLite database
/// (https://sqlite.org/fileformat.html#magic_header_string).
constexpr std::string_view kDatabaseMagic("SQLite format 3\0", 16);

/// The `application_id` of a database file of this project: "evot" in ASCII.
constexpr std::int32_t kApplicationId = 0x65766f74;
/// The version of db/schema.sql, stored as `user_version` of a database. Opening a database with
/// another schema version is an error.
constexpr int kSchemaVersion = 12;

/// The statements of db/schema.sql, with the names of the gates in the place of GATES.
[[nodiscard]] std::string schema();

/// True for ":memory:", SQLite's name for a database without a file.
[[nodiscard]] bool in_memory(const std::filesystem::path& file);

/// Throws DbError if `file` is an empty path, a folder, a pipe, a socket, a device, or a file that
/// is no SQLite database. Accepts a missing or empty file. Only reads `file`.
void require_database_file(const std::filesystem::path& file);

/// Opens the database file for reading and writing, and creates it if it is missing. SQLite opens a
/// file that this process may not write for reading only.
[[nodiscard]] SQLite::Database open_for_writing(const std::filesystem::path& file, LockWait& wait);

/// Opens the database file, which may be in a read-only folder, for queries only.
[[nodiscard]] SQLite::Database open_for_reading(const std::filesystem::path& file, LockWait& wait);

/// Values that tell which program created a database, and with which version of the schema.
struct DatabaseHeader {
  int application = 0;
  int version = 0;
  int tables = 0;

  /// True if no program has set up the database yet: it has no tables, application id or version.
  [[nodiscard]] bool is_fresh() const { return application == 0 && version == 0 && tables == 0; }
};

/// Call read_header() in a transaction, because another process may create the schema meanwhile.
[[nodiscard]] DatabaseHeader read_header(SQLite::Database& database);

/// Makes SQLite keep an existing write-ahead log when it closes `database`. By default, SQLite
/// would copy the log into the database file, which this program must not change if another program
/// or another version made it.
void keep_log(SQLite::Database& database, const std::filesystem::path& file);

/// The first fault that SQLite finds in the structure of the database file; empty if there is none,
/// or if the file is larger than 1 GiB, because the check would take too long.
[[nodiscard]] std::string structural_damage(SQLite::Database& database);

/// The name of the first table, view, index or trigger of db/schema.sql (in alphabetical order)
/// that is missing in the database or has another definition; empty if there is none. The database
/// may have additional tables, views, indexes and triggers.
[[nodiscard]] std::string schema_damage(SQLite::Database& database);

}  // namespace evo
