#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/cxx/tokenizer.hpp"

namespace evo {

/// #include, #include_next or #import.
[[nodiscard]] bool includes(const Directive& directive);

/// The name in the argument of an #include, `"name"` or `<name>`; nullopt for any other argument.
[[nodiscard]] std::optional<std::string> included_name(const Directive& directive);

/// A #define.
struct MacroDefinition {
  std::string name;
  bool is_function = false;
  std::vector<std::string> parameters = {};
  std::string replacement = {};
};

/// Parses the argument of a #define. The argument of #undef, #ifdef and the like is a name alone.
[[nodiscard]] MacroDefinition macro_in(const Directive& directive);

}  // namespace evo
