#include "db/store.hpp"

#include <utility>

#include "db/connection.hpp"

namespace evo {

Store Store::open(const std::filesystem::path& file) {
  return Store(std::make_unique<Connection>(file, Connection::Mode::kReadWrite));
}

Store Store::open_read_only(const std::filesystem::path& file) {
  return Store(std::make_unique<Connection>(file, Connection::Mode::kReadOnly));
}

Store Store::in_memory() { return open(":memory:"); }

Store::Store(std::unique_ptr<Connection> connection) : connection_(std::move(connection)) {}
Store::~Store() = default;
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;

Connection& Store::connection() const { return *connection_; }

}  // namespace evo
