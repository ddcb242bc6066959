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

/// "evot": marks a database file as ours.
constexpr std::int32_t kApplicationId = 0x65766f74;
/// The version of db/schema.sql, `user_version` of a database. Others are refused.
constexpr int kSchemaVersion = 10;

/// The statements of db/schema.sql.
[[nodiscard]] std::string_view schema();

/// ":memory:", SQLite's name of a database that is no file.
[[nodiscard]] bool in_memory(const std::filesystem::path& file);

/// Throws DbError for a name that cannot be a database of ours: empty, a folder, a pipe or a
/// device, a file with other content. Does not touch it.
void require_database_file(const std::filesystem::path& file);

/// Opens the file for reading and writing, and makes it when it is missing.
[[nodiscard]] SQLite::Database open_for_writing(const std::filesystem::path& file, LockWait& wait);

/// Opens the file for queries. Works in read-only folders.
[[nodiscard]] SQLite::Database open_for_reading(const std::filesystem::path& file, LockWait& wait);

/// Identifies the program and the version that made a database.
struct DatabaseHeader {
  int application = 0;
  int version = 0;
  int tables = 0;

  /// Nothing was made in it yet.
  [[nodiscard]] bool is_fresh() const { return application == 0 && version == 0 && tables == 0; }
};

/// To be called within a transaction: another process may be making the schema this instant.
[[nodiscard]] DatabaseHeader read_header(SQLite::Database& database);

/// Makes closing `database` keep the log that a killed program left beside the file.
void keep_log(SQLite::Database& database, const std::filesystem::path& file);

/// What SQLite finds wrong with the file's structure; empty when nothing is. Files beyond 1 GiB are
/// not looked through: that would take longer than anybody waits for a table.
[[nodiscard]] std::string structural_damage(SQLite::Database& database);

/// The first table, view, index or trigger of db/schema.sql that the file does not have in these
/// words; empty when there is none. What others added is their business.
[[nodiscard]] std::string schema_damage(SQLite::Database& database);

}  // namespace evo
