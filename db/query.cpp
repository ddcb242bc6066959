#include "db/query.hpp"

#include <charconv>
#include <cmath>

namespace evo {

Query::~Query() {
  statement_->tryReset();
  try {
    statement_->clearBindings();
  } catch (const SQLite::Exception&) {
    // An error of clearBindings() is harmless: the statement's next user binds all parameters.
  }
}

void Query::bind(double value) {
  if (std::isnan(value)) return bind_null();
  statement_->bind(++parameter_, value);
}

void Query::bind(std::string_view text) { statement_->bind(++parameter_, std::string(text)); }

void Query::bind(Blob blob) {
  // If `data` were a null pointer, SQLite would bind null instead of an empty blob.
  const void* data = blob.bytes.empty() ? "" : static_cast<const void*>(blob.bytes.data());
  statement_->bind(++parameter_, data, static_cast<int>(blob.bytes.size()));
}

void Query::read_one(std::uint64_t& value) {
  const std::string text = read<std::string>();
  value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
}

void Query::read_one(double& value) {
  value = next_is_null() ? std::numeric_limits<double>::quiet_NaN()
                         : statement_->getColumn(column_).getDouble();
  skip(1);
}

}  // namespace evo
