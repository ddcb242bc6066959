#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "db/records.hpp"

namespace evo {

inline void read_name(Gate& value, const std::string& name) { value = gate_from_string(name); }
inline void read_name(TimeKind& value, const std::string& name) {
  value = time_kind_from_string(name);
}
inline void read_name(RunStatus& value, const std::string& name) {
  value = run_status_from_string(name);
}
inline void read_name(Verdict& value, const std::string& name) {
  value = verdict_from_string(name);
}

/// Bytes to bind as a blob.
struct Blob {
  std::string_view bytes;
};

/// An execution of a prepared statement. The destructor resets the statement and clears its
/// bindings. C++ values are stored as follows:
///
/// | C++                | SQLite                              |
/// |--------------------|-------------------------------------|
/// | bool, int, int64   | integer                             |
/// | double             | real; null for NaN                  |
/// | text, enumeration  | text; the name of the value         |
/// | uint64             | text in decimal                     |
/// | Blob               | blob; read it into a std::string    |
/// | optional           | null if it is empty                 |
class Query {
 public:
  /// Binds `values` to the parameters of the statement, in this order.
  template <typename... Values>
  explicit Query(SQLite::Statement& statement, const Values&... values) : statement_(&statement) {
    (bind(values), ...);
  }
  ~Query();
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;

  /// Executes a statement that returns no rows.
  void run() { statement_->exec(); }

  /// Moves to the next row of the result, so that its first column is read next. Returns false
  /// after the last row.
  [[nodiscard]] bool next() {
    column_ = 0;
    return statement_->executeStep();
  }

  // The following functions read the next columns of the current row.

  [[nodiscard]] bool next_is_null() const { return statement_->getColumn(column_).isNull(); }
  void skip(int columns) { column_ += columns; }
  template <typename... Values>
  void read(Values&... values) {
    (read_one(values), ...);
  }
  template <typename Value>
  [[nodiscard]] Value read() {
    Value value{};
    read_one(value);
    return value;
  }

  // The following functions call next() themselves.

  /// The first column of the next row; nullopt if there is no row.
  template <typename Value>
  [[nodiscard]] std::optional<Value> first() {
    return next() ? std::optional(read<Value>()) : std::nullopt;
  }
  /// Calls `read_row(*this)` for each remaining row, and returns the results.
  template <typename ReadRow>
  [[nodiscard]] auto all(ReadRow&& read_row) {
    std::vector<std::invoke_result_t<ReadRow, Query&>> rows;
    while (next()) rows.push_back(read_row(*this));
    return rows;
  }
  /// The first column of every remaining row.
  template <typename Value>
  [[nodiscard]] std::vector<Value> all() {
    return all([](Query& row) { return row.read<Value>(); });
  }

 private:
  template <typename Value>
  void bind(const Value& value) {
    if constexpr (std::is_enum_v<Value>) {
      bind(to_string(value));
    } else if constexpr (std::same_as<Value, std::uint64_t>) {
      bind(std::string_view(std::to_string(value)));
    } else if constexpr (std::integral<Value>) {
      statement_->bind(++parameter_, static_cast<std::int64_t>(value));
    } else {
      bind(std::string_view(value));
    }
  }
  template <typename Value>
  void bind(const std::optional<Value>& value) {
    value ? bind(*value) : bind_null();
  }
  void bind(double value);
  void bind(std::string_view text);
  void bind(Blob blob);
  void bind_null() { statement_->bind(++parameter_); }

  template <typename Value>
  void read_one(Value& value) {
    if constexpr (std::is_enum_v<Value>) {
      read_name(value, read<std::string>());
    } else {
      static_assert(std::integral<Value>);
      value = static_cast<Value>(statement_->getColumn(column_++).getInt64());
    }
  }
  template <typename Value>
  void read_one(std::optional<Value>& value) {
    if (next_is_null()) {
      skip(1);
      value.reset();
    } else {
      read_one(value.emplace());
    }
  }
  void read_one(std::uint64_t& value);
  void read_one(double& value);
  void read_one(std::string& value) { value = statement_->getColumn(column_++).getString(); }

  SQLite::Statement* statement_;
  int parameter_ = 0;
  int column_ = 0;
};

}  // namespace evo
