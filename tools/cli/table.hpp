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
    /// digits of real numbers in readable text; negative: scientific notation
    int decimals = 0;
    bool left = false;  ///< left-aligned
  };
  std::vector<Column> columns;
  /// One cell for each column; null for an inapplicable one.
  std::vector<std::vector<nlohmann::ordered_json>> rows = {};
};

/// Aligned columns with headings; null is "-", arrays and objects are JSON.
void print_text(std::ostream& out, const Table& table);

/// One object per row, one row per line.
void print_json(std::ostream& out, const Table& table);

/// RFC 4180, with a line of headings; null is empty.
void print_csv(std::ostream& out, const Table& table);

}  // namespace evo
