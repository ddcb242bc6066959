#pragma once

#include <nlohmann/json.hpp>
#include <optional>

namespace evo {

template <typename Value>
void put_field(nlohmann::json& json, const char* key, const Value& value) {
  json[key] = value;
}

template <typename Value>
void put_field(nlohmann::json& json, const char* key, const std::optional<Value>& value) {
  if (value) json[key] = *value;
}

template <typename Value>
void take_field(const nlohmann::json& json, const char* key, Value& value) {
  json.at(key).get_to(value);
}

template <typename Value>
void take_field(const nlohmann::json& json, const char* key, std::optional<Value>& value) {
  value.reset();
  if (json.contains(key)) json.at(key).get_to(value.emplace());
}

}  // namespace evo

#define EVO_PUT_FIELD(field) ::evo::put_field(json, #field, value.field);
#define EVO_TAKE_FIELD(field) ::evo::take_field(json, #field, value.field);

/// Like NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE, for types with std::optional members: an empty member
/// has no key in the JSON object.
#define EVO_JSON_WITH_OPTIONAL_FIELDS(Type, ...)                           \
  inline void to_json(nlohmann::json& json, const Type& value) {           \
    json = nlohmann::json::object();                                       \
    NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(EVO_PUT_FIELD, __VA_ARGS__))  \
  }                                                                        \
  inline void from_json(const nlohmann::json& json, Type& value) {         \
    NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(EVO_TAKE_FIELD, __VA_ARGS__)) \
  }
