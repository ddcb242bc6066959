#pragma once

#include <nlohmann/json.hpp>
#include <optional>

namespace evo {

/// The value as JSON, or null if there is none.
template <typename T>
[[nodiscard]] nlohmann::ordered_json or_null(const std::optional<T>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
}

}  // namespace evo
