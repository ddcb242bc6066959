#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/core/error.hpp"
#include "engine/core/hash.hpp"
#include "engine/core/suggestion.hpp"
#include "engine/space/space.hpp"

namespace evo {
namespace {

using OrderedJson = nlohmann::ordered_json;

OrderedJson value_json(const ParameterValue& value) {
  switch (value.kind) {
    case ParameterValue::Kind::kInteger:
      return static_cast<std::int64_t>(value.number);
    case ParameterValue::Kind::kReal:
      return value.number;
    case ParameterValue::Kind::kBoolean:
      return value.number != 0;
    case ParameterValue::Kind::kName:
      break;
  }
  return value.text;
}

std::size_t parameter_index(const SpaceDefinition& definition, const std::string& macro) {
  const auto& parameters = definition.parameters;
  const auto found = std::find_if(parameters.begin(), parameters.end(),
                                  [&](const Parameter& p) { return p.macro == macro; });
  if (found == parameters.end()) {
    std::vector<std::string> known;
    for (const Parameter& parameter : parameters) known.push_back(parameter.macro);
    throw SpaceError(definition.name + ": " + unknown_name("macro", macro, known));
  }
  return static_cast<std::size_t>(found - parameters.begin());
}

/// True if `text` denotes `value`. 64 and 64.0 denote the same number, and 1 denotes true; names
/// must match exactly.
bool is_spelling(const ParameterValue& value, const std::string& text) {
  if (value.text == text) return true;
  if (value.kind == ParameterValue::Kind::kName) return false;
  if (value.kind == ParameterValue::Kind::kBoolean && value.macro_text() == text) return true;
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  return !text.empty() && *end == '\0' && number == value.number;
}

std::uint16_t value_index(const Parameter& parameter, const std::string& text) {
  for (std::size_t i = 0; i < parameter.values.size(); ++i) {
    if (is_spelling(parameter.values[i], text)) return static_cast<std::uint16_t>(i);
  }
  std::vector<std::string> names;  // suggests only names: similar numbers are unrelated
  for (const ParameterValue& value : parameter.values) {
    if (value.kind == ParameterValue::Kind::kName) names.push_back(value.text);
  }
  throw SpaceError(parameter.macro + ": value '" + text + "' is not in the space" +
                   did_you_mean(text, names) + "; allowed: " + parameter.allowed());
}

}  // namespace

std::vector<std::pair<std::string, std::string>> Space::macros(const Candidate& candidate) const {
  std::vector<std::pair<std::string, std::string>> list;
  for (std::size_t p = 0; p < parameters().size(); ++p) {
    const Parameter& parameter = parameters()[p];
    for (std::size_t i = 0; parameter.has_names() && i < parameter.values.size(); ++i) {
      list.emplace_back(value_name(parameter, i), parameter.values[i].macro_text());
    }
    list.emplace_back(parameter.macro, parameter.values[candidate.choice[p]].macro_text());
  }
  return list;
}

std::map<std::string, double> Space::values(const Candidate& candidate) const {
  std::map<std::string, double> map = value_names(parameters());
  for (std::size_t p = 0; p < parameters().size(); ++p) {
    map[parameters()[p].macro] = parameters()[p].values[candidate.choice[p]].number;
  }
  return map;
}

std::string Space::config_json(const Candidate& candidate) const {
  OrderedJson config = OrderedJson::object();
  for (std::size_t p = 0; p < parameters().size(); ++p) {
    config[parameters()[p].macro] = value_json(parameters()[p].values[candidate.choice[p]]);
  }
  return config.dump();
}

Candidate Space::candidate_from_json(std::string_view json) const {
  const OrderedJson config = OrderedJson::parse(json, nullptr, false);
  if (!config.is_object()) {
    throw SpaceError(definition_.name + ": not a configuration: " + std::string(json));
  }
  std::vector<std::pair<std::string, std::string>> settings;
  for (const auto& [macro, value] : config.items()) {
    if (value.is_structured()) {
      throw SpaceError(definition_.name + ": the configuration's value of '" + macro +
                       "' is a list or an object; allowed: one value");
    }
    settings.emplace_back(macro, value.is_string() ? value.get<std::string>() : value.dump());
  }
  for (const Parameter& parameter : parameters()) {
    if (!config.contains(parameter.macro)) {
      throw SpaceError(definition_.name + ": the configuration " + std::string(json) +
                       " lacks macro '" + parameter.macro + "'");
    }
  }
  return candidate_from_settings(settings, defaults());
}

Candidate Space::candidate_from_settings(
    std::span<const std::pair<std::string, std::string>> settings, const Candidate& base) const {
  Candidate candidate = base;
  for (const auto& [macro, text] : settings) {
    const std::size_t p = parameter_index(definition_, macro);
    candidate.choice[p] = value_index(parameters()[p], text);
  }
  return candidate;
}

std::string Space::content_key() const {
  ContentHash hash;
  hash.add("evo-tune space 1").add(definition_.problem).add(definition_.template_name);
  hash.add(definition_.arch).add(definition_.shape);
  hash.add(std::to_string(parameters().size()));
  for (const Parameter& parameter : parameters()) {
    hash.add(parameter.macro).add(std::to_string(parameter.default_index));
    hash.add(std::to_string(parameter.values.size()));
    for (const ParameterValue& value : parameter.values) {
      hash.add(std::to_string(static_cast<int>(value.kind))).add(value.text);
    }
  }
  hash.add(std::to_string(definition_.constraints.size()));
  for (const ConstraintText& constraint : definition_.constraints) hash.add(constraint.expression);
  const ResourcePolicy& policy = definition_.resources;
  for (const auto& limit :
       {policy.registers_per_thread, policy.shared_bytes_per_cta, policy.spill_bytes}) {
    hash.add(limit ? std::to_string(*limit) : "none");
  }
  hash.add(std::to_string(definition_.compiler_options.size()));
  for (const std::string& option : definition_.compiler_options) hash.add(option);
  // Include paths, milestones and allowed configurations change the hash only if there are any.
  for (const std::string& path : definition_.include_paths) hash.add("include path").add(path);
  for (const Milestone& milestone : definition_.milestones) {
    hash.add(milestone.name).add(config_json(milestone.candidate));
  }
  for (const Candidate& row : definition_.allowed) hash.add("allowed").add(config_json(row));
  return hash.hex();
}

}  // namespace evo
