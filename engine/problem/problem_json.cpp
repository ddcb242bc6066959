// Reads problem.json; docs/file-formats.md describes the format.

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "engine/core/names.hpp"
#include "engine/core/placeholder.hpp"
#include "engine/problem/argument_json.hpp"
#include "engine/problem/kernel_json.hpp"
#include "engine/problem/problem.hpp"
#include "engine/problem/problem_checks.hpp"
#include "engine/problem/tensor_map_argument.hpp"

namespace evo {
namespace {

constexpr std::string_view kFormat = "evo-tune problem 1";
/// limit of the number of shapes, of templates, of macros, and of variables of a shape
constexpr std::size_t kMostNames = 1000;
/// limit of the number of arguments
constexpr std::size_t kMostArguments = 1000;

/// Checks that each key of the object under `key` is a valid name, for example of a shape or
/// template.
void require_plain_names(const JsonReader& reader, std::string_view key) {
  reader.require_at_most(key, kMostNames);
  for (const auto& [name, unused] : reader.object(key).items()) {
    if (!is_plain_name(name)) reader.child(key).fail(name, std::string(kAllowedName));
  }
}

void require_macro_name(const JsonReader& reader, const std::string& name) {
  const std::string why = why_no_macro(name);
  if (!why.empty()) reader.fail(name, "the name '" + name + "' " + why + "; choose another");
}

std::vector<Shape> parse_shapes(const JsonReader& reader) {
  std::vector<Shape> shapes;
  require_plain_names(reader, "shapes");
  for (const auto& [name, unused] : reader.object("shapes").items()) {
    const JsonReader entry = reader.child("shapes").child(name);
    Shape shape;
    shape.name = name;
    shape.check = entry.boolean_or("check", false);
    if (entry.has("tags")) shape.tags = entry.strings("tags");
    const JsonReader variables = entry.child("variables");
    entry.require_at_most("variables", kMostNames);
    for (const auto& [variable, value] : entry.object("variables").items()) {
      require_macro_name(variables, variable);
      shape.variables[variable] = variables.number(variable);
    }
    entry.finish();
    shapes.push_back(std::move(shape));
  }
  if (shapes.empty()) reader.fail("shapes", "allowed: at least one shape");
  return shapes;
}

/// The default of "bytes", a lower bound of a kernel's traffic: each input and each compared output
/// is read or written once, except __constant__ variables and outputs whose extent depends on
/// macros. An inout argument counts once because a kernel need not read elements that it
/// overwrites.
Expression every_buffer_once(const Problem& problem, const JsonReader& reader) {
  std::string sum;
  for (const Argument& argument : problem.arguments) {
    const bool is_buffer = argument.is_input() || (argument.is_output() && argument.is_compared);
    if (!is_buffer || argument.is_constant() || argument.is_sized_by_macros) continue;
    const Expression& elements = argument.compared ? *argument.compared : argument.size;
    sum += fmt::format("{}{} * ({})", sum.empty() ? "" : " + ", size_of(argument.dtype),
                       elements.text());
  }
  if (sum.empty()) {
    reader.fail(
        "bytes",
        "the extents of all buffers depend on macros; give the least number of bytes that a "
        "launch moves");
  }
  return Expression(with_formulas(sum, problem.let));
}

/// Reads macros and their values under `key`.
Settings parse_settings(const JsonReader& reader, const char* key) {
  Settings set;
  const JsonReader entry = reader.child(key);
  for (const auto& [macro, value] : reader.object(key).items()) {
    (void)entry.value(macro);
    if (value.is_structured() || value.is_null()) {
      entry.fail(macro, "allowed: a value of the macro");
    }
    const Json& plain = value.is_boolean() ? Json(value.get<bool>() ? 1 : 0) : value;
    set.emplace_back(macro, plain.is_string() ? plain.get<std::string>() : plain.dump());
  }
  return set;
}

/// Reads the macros of the reference kernel, which may have the source of a template.
Settings parse_reference_macros(const JsonReader& reader) {
  if (!reader.has("macros")) return {};
  reader.require_at_most("macros", kMostNames);
  const JsonReader entry = reader.child("macros");
  Settings macros = parse_settings(reader, "macros");
  for (const auto& [name, value] : macros) {
    require_macro_name(entry, name);
    if (value.find_first_of("\n\r") != std::string::npos) {
      entry.fail(name, "allowed: a value of one line");
    }
  }
  return macros;
}

std::vector<std::string> parse_program(const JsonReader& reader) {
  std::vector<std::string> words = reader.strings("program");
  if (words.empty() || words.front().empty()) {
    reader.fail("program", "allowed: a program and its arguments: [\"python3\", \"x.py\"]");
  }
  return words;
}

Reference parse_reference(const JsonReader& reader, const JsonReader& tolerance,
                          const std::filesystem::path& folder,
                          const std::vector<std::string>& parameters) {
  constexpr std::string_view kKinds =
      "a kernel (\"source\", \"entry\", …), "
      "\"set\", \"files\" or \"program\"";
  Reference reference;
  const int kinds = static_cast<int>(reader.has("source")) + static_cast<int>(reader.has("set")) +
                    static_cast<int>(reader.has("files")) + static_cast<int>(reader.has("program"));
  if (kinds > 1) reader.fail({}, "allowed: one of: " + std::string(kKinds));
  if (reader.has("set")) {
    reference.set = parse_settings(reader, "set");
  } else if (reader.has("program")) {
    reference.program = parse_program(reader);
  } else if (reader.has("files")) {
    const JsonReader files = reader.child("files");
    for (const auto& [output, unused] : reader.object("files").items()) {
      reference.files[output] = files.string(output);
    }
    if (reference.files.empty()) reader.fail("files", "allowed: a .npy file for each output");
  } else {
    reference.macros = parse_reference_macros(reader);
    reference.kernel = parse_kernel(reader, std::string(kReference), tolerance, folder, parameters);
    return reference;
  }
  reader.finish();
  return reference;
}

void parse_check(const JsonReader& reader, Problem& problem) {
  if (!reader.has("check")) return;
  const JsonReader check = reader.child("check");
  problem.check_program = parse_program(check);
  problem.check_needs_only_outputs = check.boolean_or("outputs_only", false);
  check.finish();
}

std::vector<KernelSpec> parse_templates(const JsonReader& reader, const JsonReader& tolerance,
                                        const std::filesystem::path& folder,
                                        const std::vector<std::string>& parameters) {
  std::vector<KernelSpec> kernels;
  require_plain_names(reader, "templates");
  const JsonReader list = reader.child("templates");
  for (const auto& [name, unused] : reader.object("templates").items()) {
    kernels.push_back(parse_kernel(list.child(name), name, tolerance, folder, parameters));
  }
  if (kernels.empty()) reader.fail("templates", "allowed: at least one template");
  return kernels;
}

std::vector<std::pair<std::string, Expression>> parse_macros(const JsonReader& reader) {
  std::vector<std::pair<std::string, Expression>> macros;
  if (!reader.has("macros")) return macros;
  reader.require_at_most("macros", kMostNames);
  const JsonReader entry = reader.child("macros");
  for (const auto& [macro, unused] : reader.object("macros").items()) {
    require_macro_name(entry, macro);
    macros.emplace_back(macro, parse_expression(entry, macro));
  }
  return macros;
}

std::optional<ProfileSpec> parse_profile(const JsonReader& reader) {
  constexpr std::size_t kMostMetrics = 64;
  if (!reader.has("profile")) return std::nullopt;
  const JsonReader profile = reader.child("profile");
  require_plain_names(profile, "metrics");
  profile.require_at_most("metrics", kMostMetrics);
  const JsonReader list = profile.child("metrics");
  ProfileSpec spec{{}, parse_expression(profile, "require")};
  for (const auto& [name, unused] : profile.object("metrics").items()) {
    const std::string metric = list.string(name);
    // Allows few characters, because the metric's name becomes part of a comma-separated argument
    // of Nsight Compute.
    const bool is_plain = !metric.empty() && std::ranges::all_of(metric, [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
    });
    if (!is_plain) list.fail(name, "allowed: a metric's name: letters, digits, _ and .");
    spec.metrics.emplace_back(name, metric);
  }
  for (const std::string& name : spec.require.variables()) {
    const auto is_it = [&](const auto& metric) { return metric.first == name; };
    if (std::ranges::none_of(spec.metrics, is_it)) {
      profile.fail("require", "'" + name + "' is none of its metrics");
    }
  }
  if (spec.require.variables().empty()) profile.fail("require", "it names none of its metrics");
  profile.finish();
  return spec;
}

/// Sets the members of arguments and kernels that depend on several keys of problem.json.
void complete(Problem& problem) {
  // A reference kernel without macros uses no workspace, but it gets a small workspace because all
  // kernels of a problem have the same arguments.
  constexpr std::size_t kUnusedBytes = 256;
  const Values& variables = problem.shapes.front().variables;
  for (Argument& argument : problem.arguments) {
    if (argument.direction == Direction::kWorkspace && problem.reference.kernel &&
        problem.reference.macros.empty()) {
      problem.reference.kernel->workspace.emplace(
          argument.name, Expression(std::to_string(kUnusedBytes / size_of(argument.dtype))));
    }
    argument.is_sized_by_macros = argument.direction == Direction::kOut &&
                                  !problem.check_program.empty() &&
                                  !depends_only_on(argument.size, variables);
    argument.is_set_by_macros =
        argument.tensor_map ||
        std::ranges::any_of(argument.scalar_expressions(), [&](const auto& value) {
          return !depends_only_on(*value.second, variables);
        });
  }
  place_tensor_maps(problem);
}

}  // namespace

Problem Problem::load(const std::filesystem::path& folder) {
  return parse(read_text_file(folder / "problem.json", kLargestJson),
               std::filesystem::absolute(folder));
}

Problem Problem::parse(const std::string& text, const std::filesystem::path& folder) {
  const std::string file = (folder / "problem.json").string();
  const Json json = parse_json(text, file);
  require_finished(json, file);
  JsonReader reader(json, file);
  (void)reader.one_of("format", {kFormat});
  const Formulas let = reader.formulas("let");
  if (!let.empty()) reader.insert(&let);
  const std::string name = reader.plain_name("name");
  (void)reader.string_or("description", "");  // for people
  std::vector<Argument> arguments;
  std::vector<std::string> parameters;  // without __constant__ variables, which follow them
  bool has_output = false;
  for (const JsonReader& entry : reader.children("arguments", kMostArguments)) {
    arguments.push_back(parse_argument(entry));
    if (!arguments.back().is_constant()) parameters.push_back(arguments.back().name);
    has_output |= arguments.back().is_output() && arguments.back().is_compared;
  }
  if (!has_output)
    reader.fail("arguments", "allowed: a list with at least one out or inout that is compared");
  std::vector<std::pair<std::string, Expression>> macros = parse_macros(reader);
  const JsonReader tolerance = reader.child("tolerance");
  const bool has_bytes = reader.has("bytes");
  Problem problem{name,
                  std::move(arguments),
                  parse_shapes(reader),
                  std::move(macros),
                  reader.strings("include_paths"),
                  reader.strings("unset_constants"),
                  let,
                  parse_expression(reader, "flops"),
                  has_bytes ? parse_expression(reader, "bytes") : Expression("1"),
                  reader.has("check") && !reader.has("reference")
                      ? Reference{}
                      : parse_reference(reader.child("reference"), tolerance, folder, parameters),
                  {},
                  false,
                  reader.strings("program_files"),
                  parse_templates(reader, tolerance, folder, parameters),
                  folder,
                  text};
  parse_check(reader, problem);
  problem.profile = parse_profile(reader);
  reader.finish();
  complete(problem);
  if (!has_bytes) problem.bytes = every_buffer_once(problem, reader);
  check_problem(problem, file);
  return problem;
}

}  // namespace evo
