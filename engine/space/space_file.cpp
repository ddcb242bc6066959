#include <algorithm>
#include <cctype>
#include <limits>
#include <set>

#include "engine/core/error.hpp"
#include "engine/core/json_reader.hpp"
#include "engine/space/space.hpp"

namespace evo {
namespace {

/// Candidate stores indices in 16 bits.
constexpr std::size_t kMostValues = 65535;

/// Letters, digits and underscores, at least one: what makes an identifier after MACRO_.
bool is_word(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_';
  });
}

/// `key`: where `value` stands, for the message.
ParameterValue read_value(const JsonReader& reader, std::string_view key, const Json& value) {
  using Kind = ParameterValue::Kind;
  if (value.is_boolean()) {
    return {Kind::kBoolean, value.get<bool>() ? "true" : "false", value.get<bool>() ? 1.0 : 0.0};
  }
  if (value.is_number_integer()) return {Kind::kInteger, value.dump(), value.get<double>()};
  if (value.is_number()) return {Kind::kReal, value.dump(), value.get<double>()};
  if (value.is_string() && is_word(value.get_ref<const std::string&>())) {
    return {Kind::kName, value.get<std::string>(), 0};
  }
  reader.fail(key, value.dump() +
                       ": allowed are integers, reals, true and false, or names "
                       "of letters, digits and underscores");
}

/// Names are compared as the compiler sees them, in upper case.
bool is_same_value(const Parameter& parameter, std::size_t i, std::size_t j) {
  if (parameter.has_names()) return value_name(parameter, i) == value_name(parameter, j);
  return parameter.values[i].number == parameter.values[j].number;
}

void check_values(const JsonReader& reader, const Parameter& parameter) {
  const auto names =
      std::count_if(parameter.values.begin(), parameter.values.end(),
                    [](const ParameterValue& v) { return v.kind == ParameterValue::Kind::kName; });
  if (names != 0 && static_cast<std::size_t>(names) != parameter.values.size()) {
    reader.fail("values", "all values of one macro are names, or none is");
  }
  for (std::size_t i = 0; i < parameter.values.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (is_same_value(parameter, i, j)) {
        reader.fail("values", parameter.values[i].text + " is there twice");
      }
    }
  }
}

std::size_t read_default(const JsonReader& reader, const Parameter& parameter, const Json& entry) {
  if (!reader.has("default")) return 0;
  const ParameterValue wanted = read_value(reader, "default", entry.at("default"));
  for (std::size_t i = 0; i < parameter.values.size(); ++i) {
    if (parameter.values[i].kind == wanted.kind && parameter.values[i].text == wanted.text) {
      return i;
    }
  }
  reader.fail("default", "allowed: " + parameter.allowed());
}

Parameter read_parameter(const JsonReader& reader, const Json& entry) {
  Parameter parameter;
  parameter.macro = reader.string("macro");
  if (!is_identifier(parameter.macro)) {
    reader.fail("macro", "allowed is a C identifier, such as TILE_N");
  }
  const Json& values = reader.array("values");
  if (values.empty()) reader.fail("values", "allowed is a list of at least one value");
  if (values.size() > kMostValues) reader.fail("values", "allowed are at most 65535 values");
  for (const Json& value : values) parameter.values.push_back(read_value(reader, "values", value));
  if (parameter.has_names()) {
    for (std::size_t i = 0; i < parameter.values.size(); ++i) {
      parameter.values[i].number = static_cast<double>(i);
    }
  }
  check_values(reader, parameter);
  parameter.default_index = read_default(reader, parameter, entry);
  parameter.meaning = reader.string("meaning");
  reader.finish();
  return parameter;
}

void check_macros(const JsonReader& top, const std::vector<Parameter>& parameters) {
  std::set<std::string> macros;
  for (const Parameter& parameter : parameters) {
    if (!macros.insert(parameter.macro).second) {
      top.fail("parameters", "macro '" + parameter.macro + "' is there twice");
    }
  }
  for (const Parameter& parameter : parameters) {
    for (std::size_t i = 0; parameter.has_names() && i < parameter.values.size(); ++i) {
      const std::string name = value_name(parameter, i);
      if (!macros.insert(name).second) {
        top.fail("parameters", "the name '" + name + "' of value '" + parameter.values[i].text +
                                   "' of '" + parameter.macro + "' is taken");
      }
    }
  }
}

std::optional<int> read_limit(const JsonReader& reader, std::string_view key) {
  if (!reader.has(key)) return std::nullopt;
  const std::int64_t limit = reader.integer(key);
  if (limit < 0 || limit > std::numeric_limits<int>::max()) {
    reader.fail(key, "allowed is an integer from 0 to 2147483647");
  }
  return static_cast<int>(limit);
}

ResourcePolicy read_resources(const JsonReader& reader) {
  ResourcePolicy policy;
  policy.registers_per_thread = read_limit(reader, "registers_per_thread");
  policy.shared_bytes_per_cta = read_limit(reader, "shared_bytes_per_cta");
  policy.spill_bytes = read_limit(reader, "spill_bytes");
  reader.finish();
  return policy;
}

std::vector<std::string> read_options(const JsonReader& top) {
  std::vector<std::string> options;
  if (!top.has("compiler_options")) return options;
  for (const Json& option : top.array("compiler_options")) {
    if (!option.is_string()) top.fail("compiler_options", "allowed is a list of strings");
    options.push_back(option.get<std::string>());
  }
  return options;
}

std::uint16_t milestone_value(const JsonReader& reader, const Parameter& parameter,
                              const Json& value) {
  const ParameterValue wanted = read_value(reader.child("set"), parameter.macro, value);
  for (std::size_t i = 0; i < parameter.values.size(); ++i) {
    const ParameterValue& known = parameter.values[i];
    if (known.kind == wanted.kind && known.text == wanted.text) {
      return static_cast<std::uint16_t>(i);
    }
  }
  reader.child("set").fail(parameter.macro, "allowed: " + parameter.allowed());
}

Milestone read_milestone(const JsonReader& reader, const SpaceDefinition& definition) {
  Milestone milestone;
  milestone.name = reader.string("name");
  milestone.note = reader.string_or("note", "");
  const Json& set = reader.object("set");
  const JsonReader settings = reader.child("set");
  for (const Parameter& parameter : definition.parameters) {
    std::uint16_t index = static_cast<std::uint16_t>(parameter.default_index);
    if (settings.has(parameter.macro)) {
      index = milestone_value(reader, parameter, set.at(parameter.macro));
    }
    milestone.candidate.choice.push_back(index);
  }
  settings.finish();
  reader.finish();
  return milestone;
}

void read_lists(const JsonReader& top, const Json& json, SpaceDefinition& definition) {
  const std::vector<JsonReader> entries = top.children("parameters");
  if (entries.empty()) top.fail("parameters", "allowed is a list of at least one parameter");
  for (std::size_t i = 0; i < entries.size(); ++i) {
    definition.parameters.push_back(read_parameter(entries[i], json.at("parameters")[i]));
  }
  check_macros(top, definition.parameters);
  for (const JsonReader& entry : top.children("constraints")) {
    definition.constraints.push_back({entry.string("expression"), entry.string("why")});
    entry.finish();
  }
  std::set<std::string> names;
  for (const JsonReader& entry : top.children("milestones")) {
    definition.milestones.push_back(read_milestone(entry, definition));
    if (!names.insert(definition.milestones.back().name).second) {
      entry.fail("name", "this milestone is there twice");
    }
  }
}

}  // namespace

SpaceDefinition read_space_file(const std::filesystem::path& file) {
  return parse_space(read_text_file(file), file.string());
}

SpaceDefinition parse_space(const std::string& text, const std::string& file) {
  const Json json = parse_json(text, file);
  const JsonReader top(json, file);
  SpaceDefinition definition;
  (void)top.one_of("format", {"evo-tune space 1"});
  definition.file = file;
  definition.name = top.string("name");
  definition.description = top.string_or("description", "");
  definition.problem = top.string("problem");
  definition.template_name = top.string("template");
  definition.arch = top.string("arch");
  definition.shape = top.string("shape");
  definition.compiler_options = read_options(top);
  if (top.has("resources")) definition.resources = read_resources(top.child("resources"));
  read_lists(top, json, definition);
  top.finish();
  return definition;
}

}  // namespace evo
