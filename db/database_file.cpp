#include "db/database_file.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <array>
#include <fstream>
#include <map>
#include <string_view>
#include <system_error>

#include "engine/core/error.hpp"

namespace evo {
namespace {

namespace fs = std::filesystem;

/// The name of a file as a URI that tells SQLite that nobody writes to the file. With this URI,
/// SQLite takes no locks and needs no shared-memory file.
std::string immutable_uri(const fs::path& file) {
  std::string uri = "file:";
  for (const char c : fs::absolute(file).string()) {
    const bool has_a_meaning = c == '%' || c == '?' || c == '#';
    uri += has_a_meaning ? fmt::format("%{:02x}", c) : std::string(1, c);
  }
  return uri + "?immutable=1";
}

bool has_beside(const fs::path& file, const char* suffix) {
  std::error_code ignored;
  const fs::path other = file.string() + suffix;
  return fs::exists(other, ignored) && fs::file_size(other, ignored) > 0;
}

bool begins_as_database(const fs::path& file) {
  std::array<char, kDatabaseMagic.size()> start{};
  std::ifstream stream(file, std::ios::binary);
  if (!stream) return true;  // SQLite reports why the file cannot be read
  stream.read(start.data(), start.size());
  return std::string_view(start.data(), static_cast<std::size_t>(stream.gcount())) ==
         kDatabaseMagic;
}

/// False if a query through `database` fails because SQLite cannot open the file or one of the
/// files beside it, or would have to write to one of them. Throws SQLite's exception for any other
/// error. SQLite opens a database without reading the file, so the query is needed.
bool readable(SQLite::Database& database) {
  try {
    database.execAndGet("SELECT count(*) FROM sqlite_master");
    return true;
  } catch (const SQLite::Exception& error) {
    if (error.getErrorCode() == SQLITE_CANTOPEN || error.getErrorCode() == SQLITE_READONLY) {
      return false;
    }
    throw;
  }
}

/// The absolute path of the file, because SQLite takes a name that begins with "file:" for a URI.
std::string plain_name(const fs::path& file) {
  return in_memory(file) ? file.string() : fs::absolute(file).string();
}

/// The SQL text of each table, view, index and trigger, by name.
std::map<std::string, std::string> schema_of(SQLite::Database& database) {
  SQLite::Statement query(database, "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL");
  std::map<std::string, std::string> schema;
  while (query.executeStep()) {
    schema[query.getColumn(0).getString()] = query.getColumn(1).getString();
  }
  return schema;
}

}  // namespace

bool in_memory(const fs::path& file) { return file == ":memory:"; }

void require_database_file(const fs::path& file) {
  if (file.empty()) throw DbError("the name of the database is empty; name a file by --db");
  std::error_code error;
  const fs::file_status status = fs::status(file, error);
  if (!fs::exists(status)) return;
  if (fs::is_directory(status)) throw DbError(file.string() + ": is a folder, not a database file");
  if (!fs::is_regular_file(status)) {
    throw DbError(file.string() + ": is a pipe, a socket or a device, not a database file");
  }
  const bool empty = fs::file_size(file, error) == 0;
  // A file with a rollback journal is accepted even without the magic bytes, because the first
  // write to the file may have been interrupted, and SQLite then rolls this write back.
  if (empty || has_beside(file, "-journal") || begins_as_database(file)) return;
  throw DbError(file.string() + ": is not a database; name another file by --db");
}

SQLite::Database open_for_writing(const fs::path& file, LockWait& wait) {
  SQLite::Database database(plain_name(file), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  wait.install(database.getHandle());
  return database;
}

SQLite::Database open_for_reading(const fs::path& file, LockWait& wait) {
  // Opens the file for writing if permitted, because SQLite can replay and remove the log of a
  // killed writer only with write access. "PRAGMA query_only" prevents all other changes.
  SQLite::Database database(plain_name(file), SQLite::OPEN_READWRITE);
  wait.install(database.getHandle());
  if (!readable(database) && !has_beside(file, "-wal")) {
    database = SQLite::Database(immutable_uri(file), SQLite::OPEN_READONLY | SQLite::OPEN_URI);
  }
  database.exec("PRAGMA query_only = 1");
  return database;
}

DatabaseHeader read_header(SQLite::Database& database) {
  return {.application = database.execAndGet("PRAGMA application_id"),
          .version = database.execAndGet("PRAGMA user_version"),
          .tables = database.execAndGet("SELECT count(*) FROM sqlite_master")};
}

void keep_log(SQLite::Database& database, const fs::path& file) {
  if (!has_beside(file, "-wal")) return;
  sqlite3_db_config(database.getHandle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
}

std::string structural_damage(SQLite::Database& database) {
  constexpr std::int64_t kLargest = std::int64_t{1} << 30;
  const std::int64_t pages = database.execAndGet("PRAGMA page_count").getInt64();
  const std::int64_t page_bytes = database.execAndGet("PRAGMA page_size").getInt64();
  if (pages * page_bytes > kLargest) return {};
  const std::string found = database.execAndGet("PRAGMA integrity_check(1)").getString();
  return found == "ok" ? "" : found;
}

std::string schema_damage(SQLite::Database& database) {
  SQLite::Database fresh(":memory:", SQLite::OPEN_READWRITE);
  fresh.exec(schema());
  const auto there = schema_of(database);
  for (const auto& [name, sql] : schema_of(fresh)) {
    const auto found = there.find(name);
    if (found == there.end() || found->second != sql) return name;
  }
  return {};
}

}  // namespace evo
