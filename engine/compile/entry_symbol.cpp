#include "engine/compile/entry_symbol.hpp"

#include <algorithm>

namespace evo {
namespace {

constexpr std::string_view kFirstLine = "// entry: ";

}  // namespace

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
    // _ZL: of internal linkage.
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
