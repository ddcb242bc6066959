#include "db/connection.hpp"

#include <sqlite3.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <system_error>
#include <thread>

#include "engine/core/error.hpp"

namespace evo {
namespace {

namespace fs = std::filesystem;

// A writer holds the lock for one short transaction; a wait of this length means something is
// stuck.
constexpr int kBusyTimeoutMs = 20'000;
// Switching to the write-ahead log needs the file alone for an instant, and SQLite does not always
// wait for that by itself.
constexpr int kWalAttempts = 100;
constexpr std::chrono::milliseconds kWalPause{20};

bool in_memory(const fs::path& file) { return file == ":memory:"; }

/// A file name as a URI that promises SQLite that nobody writes, so that it takes no locks and
/// needs no shared-memory file beside it.
std::string immutable_uri(const fs::path& file) {
  std::string uri = "file:";
  for (const char c : fs::absolute(file).string()) {
    if (c == '%') {
      uri += "%25";
    } else if (c == '?') {
      uri += "%3f";
    } else if (c == '#') {
      uri += "%23";
    } else {
      uri += c;
    }
  }
  return uri + "?immutable=1";
}

bool has_log(const fs::path& file) {
  std::error_code ignored;
  const fs::path log = file.string() + "-wal";
  return fs::exists(log, ignored) && fs::file_size(log, ignored) > 0;
}

/// True when the file can be read through `database`: opening alone touches nothing.
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

SQLite::Database open_read_only(const fs::path& file) {
  // Opened for writing where permitted, because only then SQLite can replay and remove the log that
  // a killed writer left; query_only makes sure that we change nothing.
  SQLite::Database database(file, SQLite::OPEN_READWRITE, kBusyTimeoutMs);
  if (!readable(database) && !has_log(file)) {
    database = SQLite::Database(immutable_uri(file), SQLite::OPEN_READONLY | SQLite::OPEN_URI);
  }
  database.exec("PRAGMA query_only = 1");
  return database;
}

void use_write_ahead_log(SQLite::Database& database) {
  for (int attempt = 1;; ++attempt) {
    try {
      database.execAndGet("PRAGMA journal_mode = WAL");
      return;
    } catch (const SQLite::Exception& error) {
      const bool busy =
          error.getErrorCode() == SQLITE_BUSY || error.getErrorCode() == SQLITE_LOCKED;
      if (!busy || attempt == kWalAttempts) throw;
    }
    std::this_thread::sleep_for(kWalPause);
  }
}

/// What tells whose a database is.
struct Header {
  int application = 0;
  int version = 0;
  int tables = 0;
};

Header read_header(SQLite::Database& database) {
  // In one transaction: another process may be making the schema this instant.
  const SQLite::Transaction transaction(database);
  return {.application = database.execAndGet("PRAGMA application_id"),
          .version = database.execAndGet("PRAGMA user_version"),
          .tables = database.execAndGet("SELECT count(*) FROM sqlite_master")};
}

}  // namespace

Query::~Query() {
  statement_->tryReset();
  try {
    statement_->clearBindings();
  } catch (const SQLite::Exception&) {
    // Every use binds all parameters again.
  }
}

Query& Query::bind(std::int64_t value) {
  statement_->bind(next_parameter_++, value);
  return *this;
}

Query& Query::bind(double value) {
  if (std::isnan(value)) return bind_null();
  statement_->bind(next_parameter_++, value);
  return *this;
}

Query& Query::bind(std::string_view text) {
  statement_->bind(next_parameter_++, std::string(text));
  return *this;
}

Query& Query::bind_blob(std::string_view bytes) {
  // A null pointer would bind null.
  const void* data = bytes.empty() ? "" : static_cast<const void*>(bytes.data());
  statement_->bind(next_parameter_++, data, static_cast<int>(bytes.size()));
  return *this;
}

Query& Query::bind_null() {
  statement_->bind(next_parameter_++);
  return *this;
}

std::int64_t Query::integer(int column) const { return statement_->getColumn(column).getInt64(); }

double Query::real(int column) const {
  if (is_null(column)) return std::numeric_limits<double>::quiet_NaN();
  return statement_->getColumn(column).getDouble();
}

std::optional<std::int64_t> Query::optional_integer(int column) const {
  if (is_null(column)) return std::nullopt;
  return integer(column);
}

std::optional<double> Query::optional_real(int column) const {
  if (is_null(column)) return std::nullopt;
  return real(column);
}

std::optional<std::string> Query::optional_text(int column) const {
  if (is_null(column)) return std::nullopt;
  return text(column);
}

Connection::Connection(const fs::path& file, Mode mode) : file_(file), database_(open(file, mode)) {
  guarded([&] { prepare(mode); });
}

SQLite::Database Connection::open(const fs::path& file, Mode mode) {
  std::error_code ignored;
  if (mode == Mode::kReadOnly && !in_memory(file) && !fs::exists(file, ignored)) {
    throw DbError(file.string() + ": no such file; evo-tune --db makes it");
  }
  if (fs::is_directory(file, ignored)) {
    throw DbError(file.string() + ": is a folder, not a database file");
  }
  try {
    if (mode == Mode::kReadOnly) return open_read_only(file);
    return {file, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE, kBusyTimeoutMs};
  } catch (const SQLite::Exception& error) {
    throw DbError(file.string() + ": " + explain(error));
  }
}

void Connection::prepare(Mode mode) {
  const Header header = read_header(database_);
  const bool fresh = header.tables == 0 && header.application == 0 && header.version == 0;
  const int version = header.version;
  if (!fresh && header.application != kApplicationId) {
    fail("is a database of another program; evo-tune does not touch it");
  }
  const int known = static_cast<int>(migrations().size());
  if (version > known) {
    fail("was made by a newer evo-tune (schema " + std::to_string(version) +
         ", this one knows up to " + std::to_string(known) + ")");
  }
  if (mode == Mode::kReadOnly) {
    if (fresh) fail("is empty: no run was recorded yet");
    if (version < kOldestReadable) {
      fail("was made by an older evo-tune; running evo-tune on it upgrades it");
    }
    version_ = version;
    return;
  }
  use_write_ahead_log(database_);
  // With the write-ahead log, NORMAL loses nothing when a process is killed; a power failure may
  // undo the latest transactions but never corrupts the file
  // (https://sqlite.org/pragma.html#pragma_synchronous).
  database_.exec("PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON");
  if (version < known) migrate(*this, migrations());
  version_ = known;
}

Query Connection::query(std::string_view sql) {
  auto found = statements_.find(sql);
  if (found == statements_.end()) {
    std::string text(sql);
    SQLite::Statement statement(database_, text);
    found = statements_.emplace(std::move(text), std::move(statement)).first;
  }
  return Query(found->second);
}

void Connection::fail(const std::string& message) const {
  throw DbError(file_.string() + ": " + message);
}

bool Connection::is_busy(const SQLite::Exception& error) {
  return error.getErrorCode() == SQLITE_BUSY;
}

std::string Connection::explain(const SQLite::Exception& error) {
  const std::string original = " (SQLite: " + std::string(error.what()) + ")";
  switch (error.getErrorCode()) {
    case SQLITE_FULL:
      return "the disk is full; nothing was written, what was stored before is intact" + original;
    case SQLITE_READONLY:
      return "may not be written" + original;
    case SQLITE_CANTOPEN:
      return "cannot be opened; does its folder exist, and may it be written?" + original;
    case SQLITE_NOTADB:
      return "is not a database" + original;
    case SQLITE_CORRUPT:
      return "is damaged" + original;
    case SQLITE_BUSY:
      return "another process kept it locked for too long" + original;
    default:
      return error.what();
  }
}

void migrate(Connection& connection, std::span<const std::string_view> migrations) {
  connection.write([&] {
    SQLite::Database& database = connection.database();
    // Read again under the write lock: another process may have just done it.
    const int version = database.execAndGet("PRAGMA user_version");
    if (version > static_cast<int>(migrations.size())) {
      connection.fail("was made by a newer evo-tune");
    }
    for (const std::string_view step : migrations.subspan(static_cast<std::size_t>(version))) {
      database.exec(std::string(step));
    }
    database.exec("PRAGMA application_id = " + std::to_string(kApplicationId));
    database.exec("PRAGMA user_version = " + std::to_string(migrations.size()));
  });
}

}  // namespace evo
