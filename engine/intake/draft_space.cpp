// Drafts the search space: parameters, constraints, compiler options.

#include <algorithm>
#include <set>

#include "engine/compile/compiler_options.hpp"
#include "engine/compile/source_checks.hpp"
#include "engine/core/error.hpp"
#include "engine/core/names.hpp"
#include "engine/cxx/tokenizer.hpp"
#include "engine/intake/intake.hpp"
#include "engine/intake/nearest_valid.hpp"
#include "engine/intake/python_list.hpp"
#include "engine/space/space.hpp"

namespace evo {
namespace {

/// The values of --param "NAME=1,2" or "NAME=[2**i for i in range(3)]".
std::vector<Json> values_of(const std::string& name, const std::string& text) {
  try {
    const bool is_python = text.find_first_of("[(") != std::string::npos;
    std::vector<Json> values;
    if (is_python) {
      values = python_list(text);
    } else {
      for (const std::string_view value : split_outside(text, ',')) {
        Json number = Json::parse(value, nullptr, false);
        values.push_back(number.is_number() || number.is_boolean() ? std::move(number)
                                                                   : Json(std::string(value)));
      }
    }
    if (values.empty()) throw InputError("allowed: at least one value");
    return values;
  } catch (const InputError& error) {
    throw InputError("--param " + name + ": " + error.what());
  }
}

/// Throws if a C++ template in the source has a parameter `name`, because the macro `name` would
/// replace the parameter.
void require_no_template_parameter(const KernelSource& source, const std::string& name) {
  const std::vector<std::string> words = cpp_words(source.text);
  int depth = 0;
  for (std::size_t i = 1; i + 1 < words.size(); ++i) {
    if (depth == 0 && words[i - 1] != "template") continue;
    depth += words[i] == "<" ? 1 : words[i] == ">" ? -1 : 0;
    const std::string& next = words[i + 1];
    if (depth > 0 && words[i] == name && (next == "," || next == ">" || next == "=")) {
      throw InputError("--param " + name + ": a template of " + source.name +
                       " has a parameter of this name; give the macro another name, as in --entry "
                       "'kernel<MY_" +
                       name + ">' --param MY_" + name + "=…");
    }
  }
}

/// The draft's macros as parse_space() reads them from the drafted space file. Throws InputError if
/// parse_space() rejects them.
std::vector<Parameter> checked(const Draft& draft) {
  Json json = {{"format", "evo-tune space 1"}, {"name", draft.name}, {"problem", draft.name},
               {"template", draft.name},       {"arch", draft.arch}, {"shape", "default"},
               {"parameters", Json::array()}};
  for (const DraftParameter& parameter : draft.parameters) {
    json["parameters"].push_back({{"macro", parameter.macro},
                                  {"values", parameter.values},
                                  {"default", parameter.default_value}});
  }
  if (draft.parameters.empty()) return {};
  return parse_space(json.dump(), "search_spaces/" + draft.name + ".json").parameters;
}

class SpaceDraft {
 public:
  SpaceDraft(const KernelSource& source, const std::string& launch, Draft& draft)
      : source_(source), draft_(draft), launch_words_(names_in(launch)) {}

  void take_t1(const T1File& t1, const std::set<std::string>& replaced) {
    for (const T1Parameter& parameter : t1.parameters) {
      if (!replaced.contains(parameter.name)) take(parameter);
    }
    for (const std::string& text : t1.compiler_options) take_option(text);
  }

  void take_conditions(const std::vector<std::string>& conditions, bool is_required) {
    const std::vector<Parameter> parameters = checked(draft_);
    const Formulas fixed(draft_.fixed.begin(), draft_.fixed.end());
    for (const std::string& condition : conditions) {
      try {
        (void)Constraint(with_formulas(condition, fixed), parameters);
        draft_.constraints.push_back(condition);
      } catch (const InputError& error) {
        if (is_required) throw InputError("--constraint " + condition + ": " + error.what());
        draft_.left_out.push_back("condition " + condition + ": " + error.what());
      }
    }
  }

 private:
  void leave_out(const std::string& name, const std::string& why) {
    draft_.left_out.push_back("parameter " + name + ": " + why);
  }

  void take(const T1Parameter& parameter) {
    Json fallback = parameter.values.front();
    if (parameter.default_value) {
      const auto found =
          std::find(parameter.values.begin(), parameter.values.end(), *parameter.default_value);
      if (found != parameter.values.end()) {
        fallback = *found;
      } else {
        draft_.left_out.push_back(
            "default of " + parameter.name + ": " + parameter.default_value->dump() +
            " is not in its list of values; the default is " + fallback.dump());
      }
    }
    const std::string why = why_left_out(parameter.name);
    if (why.empty()) {
      draft_.parameters.push_back({parameter.name, parameter.values, fallback});
      return;
    }
    const bool is_fixed = is_identifier(parameter.name) && fallback.is_number();
    if (is_fixed) draft_.fixed[parameter.name] = fallback.dump();
    leave_out(parameter.name,
              why + (is_fixed ? "; in expressions, it is replaced by " + fallback.dump() : ""));
  }

  [[nodiscard]] std::string why_left_out(const std::string& name) const {
    if (const std::string why = why_no_macro(name); !why.empty()) return "the name " + why;
    try {
      require_macros_kept(source_, {name}, draft_.compiler_options);
    } catch (const InputError& error) {
      return error.what();
    }
    if (launch_words_.contains(name)) return {};
    const bool is_unread = !macros_never_read(source_, {name}).empty();
    return is_unread ? "neither the source nor the launch reads it" : "";
  }

  void take_option(const std::string& text) {
    OptionRules rules;
    for (const DraftParameter& parameter : draft_.parameters) {
      rules.taken_macros.push_back(parameter.macro);
    }
    try {
      for (const std::string& option : normalised_options({text}, rules)) {
        const auto& known = draft_.compiler_options;
        if (std::ranges::find(known, option) == known.end()) {
          draft_.compiler_options.push_back(option);
        }
      }
    } catch (const InputError& error) {
      draft_.left_out.push_back("compiler option " + text + ": " + error.what());
    }
  }

  const KernelSource& source_;
  Draft& draft_;
  std::set<std::string> launch_words_;
};

/// Adds to `texts` the macro of a parameter with its value number `value`, and the names of the
/// parameter's values (such as SWIZZLE_XOR), as passed to the compiler.
void add_texts(const Parameter& parameter, std::size_t value, MacroTexts& texts) {
  texts[parameter.macro] = parameter.values[value].macro_text();
  for (std::size_t i = 0; parameter.has_names() && i < parameter.values.size(); ++i) {
    texts[value_name(parameter, i)] = std::to_string(i);
  }
}

/// The draft's constraints, in which parameters of the T1 file that are no macros of the space are
/// replaced by their values.
std::vector<Constraint> constraints_of(const Draft& draft,
                                       const std::vector<Parameter>& parameters) {
  const Formulas fixed(draft.fixed.begin(), draft.fixed.end());
  std::vector<Constraint> constraints;
  for (const std::string& text : draft.constraints) {
    constraints.emplace_back(with_formulas(text, fixed), parameters);
  }
  return constraints;
}

/// Replaces the defaults by the nearest valid configuration if they violate a constraint.
void snap(Draft& draft, std::vector<Parameter>& parameters,
          const std::vector<Constraint>& constraints) {
  const auto valid = nearest_valid(parameters, constraints);
  if (!valid) {
    throw InputError(
        "no configuration near the defaults satisfies all constraints; give other "
        "values with --param, the default first");
  }
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    const std::size_t value = (*valid)[p];
    if (value == parameters[p].default_index) continue;
    draft.left_out.push_back("default of " + parameters[p].macro + ": " +
                             draft.parameters[p].default_value.dump() +
                             " breaks a constraint; the nearest valid configuration has " +
                             draft.parameters[p].values[value].dump());
    draft.parameters[p].default_value = draft.parameters[p].values[value];
    parameters[p].default_index = value;
  }
}

}  // namespace

void draft_space(const IntakeRequest& request, const T1File& t1, const KernelSource& source,
                 const std::string& launch, Draft& draft) {
  SpaceDraft space(source, launch, draft);
  std::set<std::string> given;
  for (const auto& [name, unused] : request.parameters) {
    if (!given.insert(name).second) throw InputError("--param " + name + ": given twice");
  }
  space.take_t1(t1, given);
  for (const auto& [name, text] : request.parameters) {
    std::vector<Json> values = values_of(name, text);
    const Json first = values.front();
    draft.fixed.erase(name);
    require_macros_kept(source, {name}, draft.compiler_options);
    require_no_template_parameter(source, name);
    draft.parameters.push_back({name, std::move(values), first});
  }
  std::set<std::string> entries = names_in(draft.entry);
  for (const std::string& entry : request.later_entries) entries.merge(names_in(entry));
  for (DraftParameter& parameter : draft.parameters) {
    parameter.is_read =
        macros_never_read(source, {parameter.macro}).empty() || entries.contains(parameter.macro);
  }
  space.take_conditions(t1.conditions, false);
  space.take_conditions(request.constraints, true);
}

void drop_idle_fixed(Draft& draft) {
  std::set<std::string> used;
  for (const std::string& constraint : draft.constraints) {
    used.merge(names_in(constraint));
  }
  std::erase_if(draft.fixed, [&](const auto& entry) { return !used.contains(entry.first); });
}

Configurations settle_defaults(const SourceMacros& macros, Draft& draft) {
  constexpr std::size_t kMostVariants = 8;
  std::vector<Parameter> parameters = checked(draft);
  const std::vector<Constraint> constraints = constraints_of(draft, parameters);
  snap(draft, parameters, constraints);
  Configurations found;
  std::vector<std::uint16_t> choice;
  for (const Parameter& parameter : parameters) {
    add_texts(parameter, parameter.default_index, found.defaults);
    choice.push_back(static_cast<std::uint16_t>(parameter.default_index));
  }
  const auto add = [&](std::size_t p, std::size_t v, std::vector<MacroTexts>& list) {
    std::vector<std::uint16_t> other = choice;
    other[p] = static_cast<std::uint16_t>(v);
    const bool is_valid = std::all_of(constraints.begin(), constraints.end(),
                                      [&](const Constraint& c) { return c.holds(other); });
    if (other == choice || !is_valid || list.size() == kMostVariants) return;
    add_texts(parameters[p], v, list.emplace_back(found.defaults));
  };
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    const std::size_t count = parameters[p].values.size();
    add(p, count - 1, found.others);
    if (count > 2) add(p, count / 2, found.others);
    const auto macro = macros.open.find(parameters[p].macro);
    if (macro == macros.open.end() || !macro->second.is_compared) continue;
    for (std::size_t v = 0; v < count; ++v) add(p, v, found.variants);
  }
  return found;
}

}  // namespace evo
