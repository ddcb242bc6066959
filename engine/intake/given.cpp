#include "engine/intake/given.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <map>

#include "engine/core/error.hpp"
#include "engine/core/expression.hpp"
#include "engine/core/names.hpp"
#include "engine/core/suggestion.hpp"
#include "engine/intake/element_type.hpp"
#include "engine/intake/intake.hpp"
#include "engine/intake/python_list.hpp"

namespace evo {
namespace {

using Kind = DraftArgument::Kind;

[[noreturn]] void refuse(const std::string& option, const std::string& name,
                         const std::string& text, const std::string& why) {
  throw InputError(fmt::format("{} {}={}: {}", option, name, text, why));
}

/// Parses the values of --size: whole numbers from 1.
std::vector<std::string> sizes_of(const std::string& name, const std::string& text) {
  std::vector<std::string> values;
  for (const std::string_view value : split_outside(text, ',')) {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error != std::errc() || end != value.data() + value.size() || number == 0) {
      refuse("--size", name, text,
             fmt::format(
                 "allowed: whole numbers from 1; for a scalar that is not a size: --value {}={}",
                 name, value));
    }
    values.emplace_back(value);
  }
  if (values.empty()) refuse("--size", name, text, "allowed: at least one number");
  return values;
}

std::string names_of(const Draft& draft, auto is_wanted) {
  std::string text;
  for (const DraftArgument& argument : draft.arguments) {
    if (is_wanted(argument)) text.append(text.empty() ? "" : ", ").append(argument.name);
  }
  return text.empty() ? "none" : text;
}

/// The argument that `option` names. Throws InputError if there is no argument `name` for which
/// `is_wanted` is true.
DraftArgument& named(const std::string& option, const std::string& name, const std::string& kind,
                     Draft& draft, auto is_wanted) {
  for (DraftArgument& argument : draft.arguments) {
    if (argument.name == name && is_wanted(argument)) return argument;
  }
  throw InputError(fmt::format("{} {}: the kernel has no {} of this name; it has: {}", option, name,
                               kind, names_of(draft, is_wanted)));
}

bool is_scalar(const DraftArgument& argument) { return argument.kind == Kind::kScalar; }
bool is_buffer(const DraftArgument& argument) { return argument.is_buffer(); }
/// True for a parameter by value that has no dtype.
bool is_structure(const DraftArgument& argument) {
  return is_scalar(argument) && is_todo(argument.dtype);
}

/// Throws InputError if `name` is a field of a structure, such as p.width.
void require_no_field(const std::string& name, const std::string& text, const Draft& draft) {
  for (const DraftArgument& argument : draft.arguments) {
    if (!is_structure(argument) || !name.starts_with(argument.name + ".")) continue;
    const std::string field = name.substr(argument.name.size() + 1);
    refuse("--value", name, text,
           fmt::format("{} is a structure; write all its fields into problem.json, in place of "
                       "dtype and value: \"fields\": [{{\"name\": \"{}\", \"dtype\": \"i32\", "
                       "\"value\": \"{}\"}}, …]",
                       argument.name, field, text));
  }
}

Json number_of(const std::string& text) {
  const Json number = Json::parse(text, nullptr, false);
  return number.is_number() ? number : Json();
}

/// Converts the value of --input to a generator: a distribution such as "uniform:0:1", or else a
/// formula.
Json generator_of(const std::string& name, const std::string& text) {
  struct Known {
    const char* word;
    std::vector<const char*> keys;
  };
  static const std::vector<Known> kKnown = {{"normal", {"mean", "std"}},
                                            {"uniform", {"low", "high"}},
                                            {"integers", {"low", "high"}},
                                            {"constant", {"value"}}};
  const std::vector<std::string_view> parts = split_outside(text, ':');
  for (const Known& known : kKnown) {
    if (parts.empty() || parts.front() != known.word) continue;
    Json generator = {{"distribution", known.word}};
    if (parts.size() != known.keys.size() + 1) {
      refuse("--input", name, text,
             "allowed: normal:MEAN:STD, uniform:LOW:HIGH, integers:LOW:HIGH, constant:VALUE, "
             "or a formula such as 'INDEX % 7'");
    }
    for (std::size_t i = 0; i < known.keys.size(); ++i) {
      generator[known.keys[i]] = number_of(std::string(parts[i + 1]));
      if (generator[known.keys[i]].is_null()) {
        refuse("--input", name, text, fmt::format("'{}' is not a number", parts[i + 1]));
      }
    }
    return generator;
  }
  // Reports a misspelt distribution such as "noraml:0:1". "noraml:0:1" cannot be a formula, because
  // a colon in a formula follows a question mark.
  if (parts.size() > 1 && is_identifier(parts.front())) {
    std::vector<std::string> words;
    for (const Known& known : kKnown) words.emplace_back(known.word);
    refuse(
        "--input", name, text,
        unknown_name("distribution", parts.front(), words) + ", or a formula such as 'INDEX % 7'");
  }
  try {
    (void)Expression(text);
  } catch (const InputError& error) {
    refuse("--input", name, text, error.what());
  }
  return {{"formula", text}};
}

/// The kernels' names, the constraints and the expressions in the request, except the values that
/// --param gives to macros, as one text.
std::string texts_of(const IntakeRequest& request) {
  const Given& given = request.given;
  std::string text = request.entry;
  for (const auto* list : {&request.later_entries, &request.constraints}) {
    for (const std::string& one : *list) text += " " + one;
  }
  for (const auto* list : {&given.sizes, &given.values, &given.extents, &given.inputs}) {
    for (const auto& [name, one] : *list) text += " " + one;
  }
  for (const GivenLaunch& launch : given.launches)
    text += " " + launch.grid + " " + launch.block + " " + launch.shared_bytes;
  return text + " " + given.flops + " " + given.tolerance + " " + given.reference_grid + " " +
         given.reference_block;
}

}  // namespace

GivenLaunch launch_of(const Given& given, std::size_t kernel) {
  return kernel < given.launches.size() ? given.launches[kernel] : GivenLaunch();
}

Json start_of_output(const std::string& dtype) {
  if (is_integer_type(dtype)) return {{"distribution", "constant"}, {"value", 0}};
  return {{"distribution", "normal"}, {"mean", 0}, {"std", 1}};
}

void draft_sizes(const Given& given, Draft& draft) {
  std::size_t shapes = 1;
  std::set<std::string> seen;
  std::map<std::string, std::vector<std::string>> columns;
  for (const auto& [name, text] : given.sizes) {
    if (const std::string why = why_no_macro(name); !why.empty()) {
      refuse("--size", name, text, "the name " + why);
    }
    if (!seen.insert(name).second) refuse("--size", name, text, "given twice");
    const auto is_macro = [&, &wanted = name](const auto& p) { return p.macro == wanted; };
    if (std::ranges::any_of(draft.parameters, is_macro)) {
      refuse("--size", name, text, "a macro of the space has this name");
    }
    const std::vector<std::string>& values = columns[name] = sizes_of(name, text);
    const auto is_it = [&, &wanted = name](const auto& other) { return other.first == wanted; };
    const auto known = std::ranges::find_if(draft.variables, is_it);
    if (known != draft.variables.end()) {
      known->second = values.front();  // a variable from the T1 file
    } else {
      draft.variables.emplace_back(name, values.front());
    }
    const std::size_t count = values.size();
    if (count > 1 && shapes > 1 && count != shapes) {
      refuse("--size", name, text,
             "another size has " + std::to_string(shapes) + " values; allowed: 1 or " +
                 std::to_string(shapes) + " values");
    }
    shapes = std::max(shapes, count);
  }
  for (std::size_t shape = 1; shape < shapes; ++shape) {
    DraftShape more{"size" + std::to_string(shape + 1), {}};
    for (const auto& [name, value] : draft.variables) {
      const auto column = columns.find(name);
      const bool is_given = column != columns.end() && column->second.size() > 1;
      more.values.push_back(is_given ? column->second[shape] : value);
    }
    draft.more_shapes.push_back(std::move(more));
  }
}

void give_arguments(const Given& given, Draft& draft) {
  for (DraftArgument& argument : draft.arguments) {
    const auto is_it = [&](const auto& variable) { return variable.first == argument.name; };
    if (is_scalar(argument) && is_todo(argument.value) &&
        std::ranges::any_of(draft.variables, is_it)) {
      argument.value = argument.name;
    }
  }
  for (const auto& [name, text] : given.values) {
    require_no_field(name, text, draft);
    named("--value", name, "scalar", draft, is_scalar).value =
        given_expressions("--value " + name, text, 1, draft).front();
  }
  for (const auto& [name, text] : given.extents) {
    named("--extent", name, "buffer", draft, is_buffer).extent =
        given_expressions("--extent " + name, text, 1, draft).front();
  }
  for (const std::string& name : given.workspaces) {
    named("--workspace", name, "output", draft, [](const auto& a) { return a.is_written(); }).kind =
        Kind::kWorkspace;
  }
  for (const std::string& name : given.inouts) {
    DraftArgument& argument =
        named("--inout", name, "output", draft, [](const auto& a) { return a.is_written(); });
    if (argument.kind == Kind::kOut) argument.generator = start_of_output(argument.dtype);
    argument.kind = Kind::kInOut;
  }
  for (const auto& [name, text] : given.inputs) {
    named("--input", name, "input", draft, [](const auto& a) { return a.is_read(); }).generator =
        generator_of(name, text);
  }
  for (const std::string& name : given.scratch) {
    named("--scratch", name, "output", draft, [](const auto& a) {
      return a.is_written();
    }).is_compared = false;
  }
  if (!given.tolerance.empty()) {
    draft.max_abs_error = given_expressions("--tolerance", given.tolerance, 1, draft).front();
    const Expression bound(draft.max_abs_error);
    if (bound.variables().empty() && !(bound.evaluate(std::map<std::string, double>()) >= 0)) {
      throw InputError("--tolerance " + given.tolerance + ": allowed: a number from 0");
    }
  }
  if (!given.flops.empty()) {
    draft.flops = given_expressions("--flops", given.flops, 1, draft).front();
  }
}

namespace {

/// The names in the draft's launches, values of scalars and extents.
std::set<std::string> names_in_expressions(const Draft& draft) {
  std::string text;
  const auto take = [&](const std::string& expression) {
    if (!is_todo(expression)) text.append(" ").append(expression);
  };
  take(draft.dynamic_shared_bytes);
  for (const std::string& size : draft.grid) take(size);
  for (const std::string& size : draft.block) take(size);
  for (const DraftStep& step : draft.later_steps) {
    for (const std::string& size : step.grid) take(size);
    for (const std::string& size : step.block) take(size);
  }
  for (const DraftArgument& argument : draft.arguments) {
    take(argument.value);
    take(argument.extent);
  }
  return names_in(text);
}

}  // namespace

void require_used_sizes(const Given& given, const Draft& draft) {
  // A size may belong to a field of a structure, which the user adds to problem.json.
  if (std::ranges::any_of(draft.arguments, is_structure)) return;
  const std::set<std::string> used = names_in_expressions(draft);
  for (const auto& [name, values] : given.sizes) {
    if (used.contains(name)) continue;
    refuse("--size", name, values,
           "no scalar parameter of the kernel has this name, and no --grid, --value or --extent "
           "uses it; its scalars are: " +
               names_of(draft, is_scalar));
  }
}

void note_unused_macros(Draft& draft) {
  const std::set<std::string> used = names_in_expressions(draft);
  for (const DraftParameter& parameter : draft.parameters) {
    const bool is_used = parameter.is_read || used.contains(parameter.macro);
    if (is_used || parameter.values.size() < 2) continue;
    draft.notes.push_back("macro " + parameter.macro +
                          ": neither the source nor the launch uses it, so all its values give "
                          "the same kernel");
  }
}

std::vector<std::string> given_expressions(const std::string& option, const std::string& text,
                                           std::size_t most, const Draft& draft) {
  std::vector<std::string> expressions;
  for (const std::string_view part : split_outside(text, ',')) {
    try {
      (void)Expression(std::string(part));
    } catch (const InputError& error) {
      throw InputError(option + ": " + error.what());
    }
    const std::string known = understood(std::string(part), draft, true);
    if (known.empty()) {
      std::string names;
      for (const auto& [name, unused] : draft.variables) {
        names.append(names.empty() ? "" : ", ").append(name);
      }
      for (const DraftParameter& parameter : draft.parameters) {
        names.append(names.empty() ? "" : ", ").append(parameter.macro);
      }
      throw InputError(fmt::format("{} {}: allowed: sizes and macros of the space, which are: {}",
                                   option, part,
                                   names.empty() ? "none; --size and --param give them" : names));
    }
    expressions.push_back(known);
  }
  if (expressions.empty() || expressions.size() > most) {
    throw InputError(fmt::format("{} {}: allowed: 1 to {} expressions, separated by commas", option,
                                 text, most));
  }
  return expressions;
}

void require_used_parameters(const IntakeRequest& request, const KernelSource& source,
                             const Trial& trial, const SourceMacros& macros) {
  if (!request.t1.empty() || !source.outside.empty()) return;  // other files may use the macros
  std::string text = source.text + " " + texts_of(request);
  for (const auto& [name, content] : source.headers) text += " " + content;
  const std::set<std::string> used = names_in(text);
  for (const auto& [name, values] : request.parameters) {
    if (used.contains(name)) continue;
    std::vector<std::string> known;
    for (const auto& [macro, value] : trial.guessed) known.push_back(macro);
    for (const auto& [macro, about] : macros.open) known.push_back(macro);
    // Accepts a macro that resembles no name in the code, because draft_launch() may use it as the
    // number of threads of a CTA.
    const std::string meant = did_you_mean(name, known);
    if (meant.empty()) continue;
    throw InputError("--param " + name + ": neither the code nor another option uses it" + meant);
  }
}

}  // namespace evo
