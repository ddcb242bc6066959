#include "engine/ptx/variables.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "engine/ptx/outline.hpp"

namespace evo {

std::string variable_name(const std::string& symbol) {
  // A name that is not mangled is returned unchanged, because the demangler would read a name such
  // as "i" as a type.
  if (!symbol.starts_with("_Z")) return symbol;
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free);
  std::string name = text ? text.get() : symbol;
  // The compiler puts a prefix, which begins with _INTERNAL_, in front of the name of a static
  // variable.
  if (name.starts_with("_INTERNAL_")) {
    const std::size_t end = name.find("::");
    if (end != std::string::npos) name.erase(0, end + 2);
  }
  return name;
}

std::vector<std::string> unset_constants(std::string_view ptx, const std::string& symbol) {
  if (ptx.find(".const") == std::string_view::npos) return {};
  const ptx::Outline outline(ptx);
  const auto reached = outline.reached_from(symbol);
  std::set<std::string_view> unset;
  for (const ptx::Declaration& its : outline.declarations()) {
    const bool is_unset = its.kind == ptx::Declaration::Kind::kConstant && !its.has_value;
    if (is_unset && reached.contains(its.name)) unset.insert(its.name);
  }
  std::vector<std::string> names;
  for (const std::string_view name : unset) names.push_back(variable_name(std::string(name)));
  return names;
}

std::optional<std::string> constant_symbol(std::string_view ptx, std::string_view name) {
  if (ptx.find(".const") == std::string_view::npos) return std::nullopt;
  const ptx::Outline outline(ptx);
  for (const ptx::Declaration& its : outline.declarations()) {
    std::string symbol(its.name);
    const bool is_constant = its.kind == ptx::Declaration::Kind::kConstant;
    if (is_constant && variable_name(symbol) == name) return symbol;
  }
  return std::nullopt;
}

}  // namespace evo
