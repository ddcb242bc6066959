#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <set>

#include "engine/core/error.hpp"
#include "engine/core/json_reader.hpp"
#include "engine/core/names.hpp"
#include "engine/core/placeholder.hpp"
#include "engine/core/printable.hpp"
#include "engine/space/overlay.hpp"
#include "engine/space/space.hpp"

namespace evo {
namespace {

/// Limits on the values of one macro (a Candidate stores their indices in 16 bits), on the macros
/// of a space, and on the values of all macros together.
constexpr std::size_t kMostValues = 65535;
constexpr std::size_t kMostParameters = 4096;
constexpr std::size_t kMostValuesInAll = 1'000'000;

/// True if `text` consists of letters, digits and underscores, because MACRO_ followed by a value's
/// name must be a C identifier.
bool is_word(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_';
  });
}

/// True if a string such as "32", "0x20", "1e3" or "True" was probably meant as a number or a truth
/// value.
bool is_number_in_quotes(const std::string& text) {
  for (const char* word : {"true", "True", "TRUE", "false", "False", "FALSE"}) {
    if (text == word) return true;
  }
  char* end = nullptr;
  (void)std::strtod(text.c_str(), &end);
  return std::isdigit(static_cast<unsigned char>(text[0])) != 0 &&
         end == text.c_str() + text.size();
}

/// Reads one value of a macro. `key`: the key under which the file has `value`, for error messages.
ParameterValue read_value(const JsonReader& reader, std::string_view key, const Json& value) {
  using Kind = ParameterValue::Kind;
  if (value.is_boolean()) {
    return {Kind::kBoolean, value.get<bool>() ? "true" : "false", value.get<bool>() ? 1.0 : 0.0};
  }
  if (value.is_number_integer()) {
    // Expressions use doubles, which round integers above kExact. The compiler does not round, so
    // constraints would use another value than the kernel.
    constexpr double kExact = 0x1.0p53;
    if (std::fabs(value.get<double>()) >= kExact) {
      reader.fail(key, value.dump() + ": allowed: integers between -2^53 and 2^53");
    }
    return {Kind::kInteger, value.dump(), value.get<double>()};
  }
  if (value.is_number()) return {Kind::kReal, value.dump(), value.get<double>()};
  if (value.is_string() && is_word(value.get_ref<const std::string&>())) {
    if (is_number_in_quotes(value.get_ref<const std::string&>())) {
      reader.fail(key,
                  value.dump() +
                      ": a value in quotes is a name, and the kernel gets its index in the list; "
                      "allowed: numbers, true and false without quotes");
    }
    return {Kind::kName, value.get<std::string>(), 0};
  }
  reader.fail(key, value.dump() +
                       ": allowed: integers, reals, true and false, or names "
                       "of letters, digits and underscores");
}

/// Lists the values of a range: 16, 32, 48, … for {"from": 16, "to": 256, "step": 16}, or 1, 2, 4,
/// … for {"from": 1, "to": 64, "times": 2}.
std::vector<ParameterValue> read_range(const JsonReader& reader) {
  constexpr std::int64_t kExact = std::int64_t{1} << 53;
  const std::int64_t from = reader.integer("from");
  const std::int64_t to = reader.integer("to");
  const bool grows = reader.has("times");
  const char* key = grows ? "times" : "step";
  if (grows && reader.has("step")) reader.fail("times", "allowed: one of \"step\", \"times\"");
  const std::int64_t by = reader.integer(key);
  if (from <= -kExact || from >= kExact)
    reader.fail("from", "allowed: an integer between -2^53 and 2^53");
  if (to <= -kExact || to >= kExact)
    reader.fail("to", "allowed: an integer between -2^53 and 2^53");
  if (to < from) reader.fail("to", "allowed: at least \"from\", " + std::to_string(from));
  if (by >= kExact) reader.fail(key, "allowed: less than 2^53");
  if (by < (grows ? 2 : 1)) {
    reader.fail(key, grows ? "allowed: an integer of at least 2" : "allowed: an integer above 0");
  }
  if (grows && from < 1) reader.fail("from", "allowed with \"times\": an integer above 0");
  reader.finish();
  std::vector<ParameterValue> values;
  // The loop cannot overflow, because it returns before it would compute a value above `to`.
  for (std::int64_t value = from;;) {
    if (values.size() == kMostValues) {
      reader.fail("to", "more than " + std::to_string(kMostValues) + " values; allowed: fewer");
    }
    values.push_back(
        {ParameterValue::Kind::kInteger, std::to_string(value), static_cast<double>(value)});
    if (grows ? value > to / by : value > to - by) return values;
    value = grows ? value * by : value + by;
  }
}

std::vector<ParameterValue> read_values(const JsonReader& reader) {
  if (reader.value("values").is_object()) return read_range(reader.child("values"));
  const Json& list = reader.array("values");
  if (list.empty()) reader.fail("values", "allowed: a list of at least one value");
  reader.require_at_most("values", kMostValues);
  std::vector<ParameterValue> values;
  for (const Json& value : list) values.push_back(read_value(reader, "values", value));
  return values;
}

/// Throws an error if names and numbers are mixed, or if two values of a macro are equal. Names are
/// equal if they are equal in upper case, as in value_name(); other values are compared as numbers.
void check_values(const JsonReader& reader, const Parameter& parameter) {
  std::set<std::string> names;
  std::set<double> numbers;
  for (std::size_t i = 0; i < parameter.values.size(); ++i) {
    const ParameterValue& value = parameter.values[i];
    const bool is_name = value.kind == ParameterValue::Kind::kName;
    if (is_name != parameter.has_names()) {
      reader.fail("values", "names and numbers are mixed; allowed: only names, or no names");
    }
    const bool is_new = is_name ? names.insert(value_name(parameter, i)).second
                                : numbers.insert(value.number).second;
    if (!is_new) reader.fail("values", value.text + " appears twice");
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
  if (const std::string why = why_no_macro(parameter.macro); !why.empty()) {
    reader.fail("macro", why + "; allowed: an unused C identifier");
  }
  parameter.values = read_values(reader);
  if (parameter.has_names()) {
    for (std::size_t i = 0; i < parameter.values.size(); ++i) {
      parameter.values[i].number = static_cast<double>(i);
    }
  }
  check_values(reader, parameter);
  parameter.default_index = read_default(reader, parameter, entry);
  parameter.meaning = reader.string_or("meaning", "");
  reader.finish();
  return parameter;
}

void check_macros(const JsonReader& top, const std::vector<Parameter>& parameters) {
  std::set<std::string> macros;
  for (const Parameter& parameter : parameters) {
    if (!macros.insert(parameter.macro).second) {
      top.fail("parameters", "macro '" + parameter.macro + "' appears twice");
    }
  }
  for (const Parameter& parameter : parameters) {
    for (std::size_t i = 0; parameter.has_names() && i < parameter.values.size(); ++i) {
      const std::string name = value_name(parameter, i);
      if (const std::string why = why_no_macro(name); !why.empty()) {
        top.fail("parameters", "the name '" + name + "' of value '" + parameter.values[i].text +
                                   "' of '" + parameter.macro + "' " + why);
      }
      if (!macros.insert(name).second) {
        top.fail("parameters", "the name '" + name + "' of value '" + parameter.values[i].text +
                                   "' of '" + parameter.macro + "' is already used");
      }
    }
  }
}

std::optional<int> read_limit(const JsonReader& reader, std::string_view key) {
  if (!reader.has(key)) return std::nullopt;
  const std::int64_t limit = reader.integer(key);
  if (limit < 0 || limit > std::numeric_limits<int>::max()) {
    reader.fail(key, "allowed: an integer from 0 to 2147483647");
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

/// The index of `value` in the parameter's list of values; nullopt if the list lacks it. `key`: the
/// key under which the file has `value`, for error messages.
std::optional<std::uint16_t> index_of(const JsonReader& reader, std::string_view key,
                                      const Parameter& parameter, const Json& value) {
  const ParameterValue wanted = read_value(reader, key, value);
  for (std::size_t i = 0; i < parameter.values.size(); ++i) {
    const ParameterValue& known = parameter.values[i];
    if (known.kind == wanted.kind && known.text == wanted.text) {
      return static_cast<std::uint16_t>(i);
    }
  }
  return std::nullopt;
}

/// Reads the table "allowed". Each row is a configuration: a list of values in the order of
/// "parameters".
std::vector<Candidate> read_allowed(const JsonReader& top,
                                    const std::vector<Parameter>& parameters) {
  std::vector<Candidate> rows;
  if (!top.has("allowed")) return rows;
  const Json& table = top.array("allowed");
  if (table.empty()) top.fail("allowed", "allowed: a list of at least one configuration");
  top.require_at_most("allowed", kMostValuesInAll);
  for (const Json& row : table) {
    const std::string key = "allowed[" + std::to_string(rows.size()) + "]";
    if (!row.is_array() || row.size() != parameters.size()) {
      throw SpaceError(top.where(key) + ": " + shortened(row.dump()) + ": allowed: a list of " +
                       std::to_string(parameters.size()) +
                       " values, one for each parameter in their order");
    }
    Candidate candidate;
    for (std::size_t p = 0; p < parameters.size(); ++p) {
      const auto index = index_of(top, "allowed", parameters[p], row[p]);
      if (!index) {
        throw SpaceError(top.where(key) + ": " + parameters[p].macro + ": " + row[p].dump() +
                         ": allowed: " + parameters[p].allowed());
      }
      candidate.choice.push_back(*index);
    }
    rows.push_back(std::move(candidate));
  }
  return rows;
}

Milestone read_milestone(const JsonReader& reader, const SpaceDefinition& definition) {
  Milestone milestone;
  milestone.name = reader.line("name");
  milestone.note = reader.string_or("note", "");
  if (reader.has("where")) {
    try {
      milestone.where = with_formulas(reader.string("where"), definition.let);
    } catch (const InputError& error) {
      reader.fail("where", error.what());
    }
  }
  const Json& set = reader.object("set");
  const JsonReader settings = reader.child("set");
  for (const Parameter& parameter : definition.parameters) {
    std::uint16_t index = static_cast<std::uint16_t>(parameter.default_index);
    if (settings.has(parameter.macro)) {
      const auto given = index_of(settings, parameter.macro, parameter, set.at(parameter.macro));
      if (!given) settings.fail(parameter.macro, "allowed: " + parameter.allowed());
      index = *given;
    }
    milestone.candidate.choice.push_back(index);
  }
  settings.finish();
  reader.finish();
  return milestone;
}

ConstraintText read_constraint(const JsonReader& reader, const Formulas& let) {
  const std::string written = reader.string("expression");
  ConstraintText constraint{written, reader.string_or("why", "")};
  if (reader.has("name")) (void)reader.line("name");  // files that extend this file use the name
  try {
    constraint.expression = with_formulas(written, let);
  } catch (const InputError& error) {
    reader.fail("expression", error.what());
  }
  if (constraint.expression != written) constraint.written = written;
  reader.finish();
  return constraint;
}

/// Throws an error if a macro or a value name equals the name of a formula in "let", because
/// constraints would use the formula instead.
void check_formulas(const JsonReader& top, const SpaceDefinition& definition) {
  std::map<std::string, double> names = value_names(definition.parameters);
  for (const Parameter& parameter : definition.parameters) names[parameter.macro] = 0;
  for (const auto& [name, formula] : definition.let) {
    if (names.contains(name)) {
      top.child("let").fail(name, "a macro or a named value has this name; choose another name");
    }
  }
}

void read_lists(const JsonReader& top, const Json& json, SpaceDefinition& definition) {
  const std::vector<JsonReader> entries = top.children("parameters", kMostParameters);
  if (entries.empty()) top.fail("parameters", "allowed: a list of at least one parameter");
  std::size_t values = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    definition.parameters.push_back(read_parameter(entries[i], json.at("parameters")[i]));
    values += definition.parameters.back().values.size();
    if (values > kMostValuesInAll) {
      throw SpaceError(entries[i].where("values") + ": this and the earlier parameters have " +
                       std::to_string(values) +
                       " values; allowed: " + std::to_string(kMostValuesInAll) + " in all");
    }
  }
  check_macros(top, definition.parameters);
  definition.let = top.formulas("let");
  check_formulas(top, definition);
  for (const JsonReader& entry : top.children("constraints")) {
    definition.constraints.push_back(read_constraint(entry, definition.let));
  }
  definition.allowed = read_allowed(top, definition.parameters);
  std::set<std::string> names;
  for (const JsonReader& entry : top.children("milestones")) {
    definition.milestones.push_back(read_milestone(entry, definition));
    if (!names.insert(definition.milestones.back().name).second) {
      entry.fail("name", "this milestone appears twice");
    }
  }
}

std::string read_arch(const JsonReader& top) {
  std::string arch = top.string("arch");
  if (!is_arch(arch)) top.fail("arch", std::string(kAllowedArch));
  return arch;
}

}  // namespace

namespace {

/// The text of a space file, merged with the files that it extends. Each extended file must be a
/// valid space file.
std::string whole_text(const std::filesystem::path& file, int depth) {
  constexpr int kDeepest = 8;
  constexpr int kIndent = 2;
  std::string text = read_text_file(file, kLargestJson);
  Json overlay = parse_json(text, file.string());
  require_finished(overlay, file.string());
  if (!overlay.is_object() || !overlay.contains("extends")) return text;
  const JsonReader top(overlay, file.string());
  const std::string base = top.string("extends");
  if (std::filesystem::path(base).filename() != base) {
    top.fail("extends", "allowed: the name of a file in the same folder");
  }
  if (depth == kDeepest) {
    top.fail("extends",
             "too many files extend each other; allowed: at most 8 extended files, each once");
  }
  const std::filesystem::path base_file = file.parent_path() / base;
  if (!is_file(base_file)) top.fail("extends", "there is no such file");
  const std::string base_text = whole_text(base_file, depth + 1);
  // Parses the extended file only to check it, so that error messages name this file.
  (void)parse_space(base_text, base_file.string());
  overlay.erase("extends");
  return laid_over(overlay, parse_json(base_text, base_file.string())).dump(kIndent);
}

}  // namespace

SpaceDefinition read_space_file(const std::filesystem::path& file) {
  return parse_space(whole_text(file, 0), file.string());
}

SpaceDefinition parse_space(const std::string& text, const std::string& file) {
  const Json json = parse_json(text, file);
  const JsonReader top(json, file);
  SpaceDefinition definition;
  (void)top.one_of("format", {"evo-tune space 1"});
  definition.file = file;
  definition.text = text;
  definition.name = top.plain_name("name");
  definition.description = top.string_or("description", "");
  definition.problem = top.plain_name("problem");
  definition.template_name = top.plain_name("template");
  definition.arch = read_arch(top);
  definition.shape = top.plain_name("shape");
  definition.compiler_options = top.strings("compiler_options");
  definition.include_paths = top.strings("include_paths");
  if (top.has("resources")) definition.resources = read_resources(top.child("resources"));
  read_lists(top, json, definition);
  top.finish();
  return definition;
}

}  // namespace evo
