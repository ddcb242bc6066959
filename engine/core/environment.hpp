#pragma once

#include <cstdlib>
#include <optional>
#include <string>

namespace evo {

/// The value of an environment variable. An empty variable counts as unset, because scripts unset
/// variables by emptying them.
[[nodiscard]] inline std::optional<std::string> environment_variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

}  // namespace evo
