#pragma once

#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

namespace evo {

/// A table with three output formats: readable text, JSON and CSV.
struct Table {
  struct Column {
    std::string name;     ///< key in JSON and heading in CSV; empty: only in readable text
    std::string heading;  ///< heading with unit in readable text; empty: hidden there
    /// digits after the decimal point in readable text; negative: scientific notation with that
    /// many digits
    int decimals = 0;
    bool left = false;  ///< left-aligned
  };
  std::vector<Column> columns;
  /// One cell for each column; null if the value is unknown or the column does not apply to the
  /// row.
  std::vector<std::vector<nlohmann::ordered_json>> rows = {};
};

/// Prints aligned columns with headings. Prints null as "-", and arrays and objects as JSON.
void print_text(std::ostream& out, const Table& table);

/// Prints each row as a JSON object on a line of its own.
void print_json(std::ostream& out, const Table& table);

/// Prints CSV by RFC 4180 with a line of headings. A null cell is empty.
void print_csv(std::ostream& out, const Table& table);

}  // namespace evo
