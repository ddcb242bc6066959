#pragma once

#include <nlohmann/json.hpp>
#include <optional>

namespace evo {

// Values that may be missing are keys that may be missing.

template <typename T>
void put_optional(nlohmann::json& json, const char* key, const std::optional<T>& value) {
  if (value) json[key] = *value;
}

template <typename T>
[[nodiscard]] std::optional<T> get_optional(const nlohmann::json& json, const char* key) {
  if (!json.contains(key)) return std::nullopt;
  return json.at(key).get<T>();
}

}  // namespace evo
