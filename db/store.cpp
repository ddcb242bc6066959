#include "db/store.hpp"

#include "db/connection.hpp"
#include "engine/core/error.hpp"

namespace evo {
namespace {

/// Rejects ":memory:", SQLite's name for a database in memory, which would lose all results.
void require_file(const std::filesystem::path& file) {
  if (file == ":memory:")
    throw DbError(":memory: is not a file; give the name of a database file by --db");
}

}  // namespace

Store Store::open(const std::filesystem::path& file) { return open_waiting(file, {}); }

Store Store::open_waiting(const std::filesystem::path& file, const WaitOptions& wait) {
  require_file(file);
  return Store(std::make_shared<Connection>(file, Connection::Mode::kReadWrite, wait));
}

Store Store::open_read_only(const std::filesystem::path& file) {
  require_file(file);
  return Store(std::make_shared<Connection>(file, Connection::Mode::kReadOnly));
}

Store Store::in_memory() {
  return Store(std::make_shared<Connection>(":memory:", Connection::Mode::kReadWrite));
}

}  // namespace evo
