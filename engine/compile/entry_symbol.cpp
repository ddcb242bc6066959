#include "engine/compile/entry_symbol.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <sstream>

namespace evo {
namespace {

constexpr std::string_view kFirstLine = "// entry: ";

struct Field {
  const char* name;
  int Resources::*value;
};
constexpr std::array<Field, 6> kFields = {{{"registers", &Resources::registers},
                                           {"static_shared", &Resources::static_shared_bytes},
                                           {"spill_stores", &Resources::spill_store_bytes},
                                           {"spill_loads", &Resources::spill_load_bytes},
                                           {"stack", &Resources::stack_bytes},
                                           {"max_threads", &Resources::max_threads}}};

std::string line_of(const CompiledEntry& entry) {
  std::string line = fmt::format("{}{}", kFirstLine, entry.symbol);
  for (const Field& field : kFields) {
    line += fmt::format(" {}={}", field.name, entry.resources.*field.value);
  }
  return line + "\n";
}

/// Parses an entry's symbol and resources from the text that line_of() writes after "// entry: ";
/// nullopt for any other text.
std::optional<CompiledEntry> entry_in(const std::string& text) {
  std::istringstream words(text);
  CompiledEntry entry;
  words >> entry.symbol;
  for (const Field& field : kFields) {
    std::string name;
    std::getline(words >> std::ws, name, '=');
    if (name != field.name || !(words >> entry.resources.*field.value)) return std::nullopt;
  }
  return entry;
}

}  // namespace

std::string with_entries(std::string ptx, const std::vector<std::string>& entries,
                         const std::vector<CompiledEntry>& compiled) {
  if (entries.size() == 1) {
    return with_entry_symbol(std::move(ptx), entries.front(), compiled.front().symbol);
  }
  std::string lines;
  for (const CompiledEntry& entry : compiled) lines += line_of(entry);
  return lines + ptx;
}

std::vector<CompiledEntry> compiled_entries(std::string_view ptx,
                                            const std::vector<std::string>& entries,
                                            const Resources& resources) {
  if (entries.size() == 1) return {{entry_symbol(ptx, entries.front()), resources}};
  std::vector<CompiledEntry> compiled;
  for (const std::string& name : entries) {
    compiled.push_back({name, resources});
    if (!ptx.starts_with(kFirstLine)) continue;
    ptx.remove_prefix(kFirstLine.size());
    const std::size_t end = std::min(ptx.find('\n'), ptx.size());
    if (auto entry = entry_in(std::string(ptx.substr(0, end)))) compiled.back() = *std::move(entry);
    ptx.remove_prefix(std::min(end + 1, ptx.size()));
  }
  return compiled;
}

Resources largest_of(const std::vector<CompiledEntry>& entries) {
  Resources largest;
  for (const CompiledEntry& entry : entries) {
    for (const Field& field : kFields) {
      int& value = largest.*field.value;
      const int own = entry.resources.*field.value;
      const bool is_bound = field.value == &Resources::max_threads;
      if (is_bound && own > 0) value = value == 0 ? own : std::min(value, own);
      if (!is_bound) value = std::max(value, own);
    }
  }
  return largest;
}

std::string with_entry_symbol(std::string ptx, const std::string& entry,
                              const std::string& symbol) {
  if (symbol == entry) return ptx;
  return std::string(kFirstLine).append(symbol).append("\n").append(ptx);
}

std::string entry_symbol(std::string_view ptx, const std::string& entry) {
  if (!ptx.starts_with(kFirstLine)) return entry;
  ptx.remove_prefix(kFirstLine.size());
  return std::string(ptx.substr(0, ptx.find('\n')));
}

std::vector<std::string> symbols_named(const std::vector<std::string>& symbols,
                                       const std::string& name) {
  if (std::find(symbols.begin(), symbols.end(), name) != symbols.end()) return {name};
  const std::string mangled = std::to_string(name.size()) + name;
  std::vector<std::string> found;
  for (const std::string& symbol : symbols) {
    // Mangled names of functions with internal linkage begin with _ZL instead of _Z.
    if (symbol.starts_with("_Z" + mangled) || symbol.starts_with("_ZL" + mangled)) {
      found.push_back(symbol);
    }
  }
  return found;
}

std::string instantiation_of(const std::string& entry) {
  if (entry.find('<') == std::string::npos) return {};
  return "template __global__ decltype(" + entry + ") " + entry + ";\n";
}

}  // namespace evo
