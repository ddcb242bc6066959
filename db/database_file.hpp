#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "db/lock_wait.hpp"

namespace evo {

/// The first bytes of every SQLite database
/// (https://sqlite.org/fileformat.html#magic_header_string).
constexpr std::string_view kDatabaseMagic("SQLite format 3\0", 16);

/// ":memory:", SQLite's name of a database that is no file.
[[nodiscard]] bool in_memory(const std::filesystem::path& file);

/// Throws DbError for a name that cannot be a database of ours: empty, a folder, a pipe or a
/// device, a file with other content. Does not touch it.
void require_database_file(const std::filesystem::path& file);

/// Opens the file for reading and writing, and makes it when it is missing.
[[nodiscard]] SQLite::Database open_for_writing(const std::filesystem::path& file, LockWait& wait);

/// Opens the file for queries. Works in read-only folders.
[[nodiscard]] SQLite::Database open_for_reading(const std::filesystem::path& file, LockWait& wait);

/// What SQLite finds wrong with the file's structure; empty when nothing is. Files beyond 1 GiB are
/// not looked through: that would take longer than anybody waits for a table.
[[nodiscard]] std::string structural_damage(SQLite::Database& database);

/// The first table, view, index or trigger that `migrations` make and that the file does not have
/// in these words; empty when there is none. What others added is their business.
[[nodiscard]] std::string schema_damage(SQLite::Database& database,
                                        std::span<const std::string_view> migrations);

}  // namespace evo
