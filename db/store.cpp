#include "db/store.hpp"

#include <utility>

#include "db/connection.hpp"
#include "engine/core/error.hpp"

namespace evo {
namespace {

/// Refuses SQLite's name of a database in memory: everything found would be gone at the end.
void require_file(const std::filesystem::path& file) {
  if (file == ":memory:") throw DbError(":memory: is no file; allowed is the name of a file");
}

}  // namespace

Store Store::open(const std::filesystem::path& file) { return open_waiting(file, {}); }

Store Store::open_waiting(const std::filesystem::path& file, const WaitOptions& wait) {
  require_file(file);
  return Store(std::make_unique<Connection>(file, Connection::Mode::kReadWrite, wait));
}

Store Store::open_read_only(const std::filesystem::path& file) {
  require_file(file);
  return Store(std::make_unique<Connection>(file, Connection::Mode::kReadOnly));
}

Store Store::in_memory() {
  return Store(std::make_unique<Connection>(":memory:", Connection::Mode::kReadWrite));
}

Store::Store(std::unique_ptr<Connection> connection) : connection_(std::move(connection)) {}
Store::~Store() = default;
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;

Connection& Store::connection() const { return *connection_; }

}  // namespace evo
