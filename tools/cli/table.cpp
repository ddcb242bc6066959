#include "tools/cli/table.hpp"

#include <algorithm>
#include <cstdlib>
#include <iomanip>
#include <sstream>

#include "engine/core/utf8.hpp"

namespace evo {
namespace {

using Cell = nlohmann::ordered_json;

std::string for_people(const Cell& cell, const Table::Column& column) {
  if (cell.is_null()) return "-";
  if (cell.is_string()) return cell.get<std::string>();
  if (!cell.is_number_float()) return cell.dump();
  std::ostringstream text;
  text << (column.decimals < 0 ? std::scientific : std::fixed)
       << std::setprecision(std::abs(column.decimals)) << cell.get<double>();
  return text.str();
}

void print_line(std::ostream& out, const Table& table, const std::vector<std::string>& cells,
                const std::vector<std::size_t>& widths) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (table.columns[i].heading.empty()) continue;
    const std::string padding(widths[i] - columns_of(cells[i]), ' ');
    line += (line.empty() ? "" : "  ") +
            (table.columns[i].left ? cells[i] + padding : padding + cells[i]);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  out << line << '\n';
}

std::string csv_field(const Cell& cell) {
  if (cell.is_null()) return {};
  std::string text = cell.is_string() ? cell.get<std::string>() : cell.dump();
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

}  // namespace

void print_text(std::ostream& out, const Table& table) {
  std::vector<std::vector<std::string>> lines(1);
  for (const Table::Column& column : table.columns) lines[0].push_back(column.heading);
  for (const std::vector<Cell>& row : table.rows) {
    std::vector<std::string>& line = lines.emplace_back();
    for (std::size_t i = 0; i < row.size(); ++i) {
      line.push_back(for_people(row[i], table.columns[i]));
    }
  }
  std::vector<std::size_t> widths(table.columns.size());
  for (const std::vector<std::string>& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i)
      widths[i] = std::max(widths[i], columns_of(line[i]));
  }
  for (const std::vector<std::string>& line : lines) print_line(out, table, line, widths);
}

void print_json(std::ostream& out, const Table& table) {
  for (const std::vector<Cell>& row : table.rows) {
    Cell object = Cell::object();
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (!table.columns[i].name.empty()) object[table.columns[i].name] = row[i];
    }
    // Replaces invalid UTF-8, because a compiler log may contain any bytes.
    out << object.dump(-1, ' ', false, Cell::error_handler_t::replace) << '\n';
  }
}

void print_csv(std::ostream& out, const Table& table) {
  const auto print = [&](const auto& text_of) {
    const char* separator = "";
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      if (table.columns[i].name.empty()) continue;
      out << separator << text_of(i);
      separator = ",";
    }
    out << "\r\n";
  };
  print([&](std::size_t i) { return table.columns[i].name; });
  for (const std::vector<Cell>& row : table.rows) {
    print([&](std::size_t i) { return csv_field(row[i]); });
  }
}

}  // namespace evo
