#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/cxx/tokenizer.hpp"

namespace evo {

/// Whether the directive is #include, #include_next or #import.
[[nodiscard]] bool includes(const Directive& directive);

/// The name in the argument of an #include, which is `"name"` or `<name>`; nullopt for any other
/// argument.
[[nodiscard]] std::optional<std::string> included_name(const Directive& directive);

/// A macro, as defined by a #define directive.
struct MacroDefinition {
  std::string name;
  bool is_function = false;
  std::vector<std::string> parameters = {};
  std::string replacement = {};
};

/// Parses the macro's name, parameters and replacement text in a #define, or only the name in a
/// directive such as #undef or #ifdef.
[[nodiscard]] MacroDefinition macro_in(const Directive& directive);

}  // namespace evo
