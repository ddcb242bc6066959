#pragma once

#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

namespace evo {

/// Rows for people, for programs and for spreadsheets: one content, three ways to print it.
struct Table {
  struct Column {
    std::string name;     ///< key in JSON, heading in CSV; empty: for people only
    std::string heading;  ///< for people, with the unit; empty: not shown to them
    int decimals = 0;     ///< for real numbers, for people; negative: in scientific notation
    bool left = false;    ///< aligned left
  };
  std::vector<Column> columns;
  /// One cell for each column; null for what does not apply.
  std::vector<std::vector<nlohmann::ordered_json>> rows = {};
};

/// Aligned columns under their headings; null is "-", arrays and objects are JSON.
void print_text(std::ostream& out, const Table& table);

/// One object a row, a row a line.
void print_json(std::ostream& out, const Table& table);

/// RFC 4180, with a line of headings; null is empty.
void print_csv(std::ostream& out, const Table& table);

}  // namespace evo
