#include "engine/problem/problem_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "engine/core/error.hpp"
#include "engine/problem/inputs.hpp"
#include "engine/problem/tensor_map_argument.hpp"

namespace evo {
namespace {

void require_distinct_names(const Problem& problem, const std::string& file) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < problem.arguments.size(); ++i) {
    const std::string& name = problem.arguments[i].name;
    if (names.insert(name).second) continue;
    throw ProblemError(file + ": arguments[" + std::to_string(i) + "].name: \"" + name +
                       "\": an earlier argument has this name; choose another");
  }
}

/// Throws if a tolerance has "max_row_error" but no argument has rows, because the bound would have
/// no effect.
void require_rows(const Problem& problem, const std::string& file) {
  const auto bounds_rows = [](const KernelSpec& kernel) {
    return kernel.tolerance.max_row_error.has_value();
  };
  if (std::ranges::none_of(problem.templates, bounds_rows)) return;
  const auto has_rows = [](const Argument& argument) { return argument.row.has_value(); };
  if (std::ranges::any_of(problem.arguments, has_rows)) return;
  throw ProblemError(file +
                     ": tolerance: max_row_error needs an out or inout argument with \"row\"");
}

/// Throws if a template's "workspace" names an argument that is not a workspace, because the extent
/// given there would be ignored.
void require_workspaces(const Problem& problem, const std::string& file) {
  std::set<std::string> known;
  std::string allowed;
  for (const Argument& argument : problem.arguments) {
    if (argument.direction != Direction::kWorkspace) continue;
    known.insert(argument.name);
    allowed += (allowed.empty() ? "" : ", ") + argument.name;
  }
  for (const KernelSpec& kernel : problem.templates) {
    for (const auto& [name, extent] : kernel.workspace) {
      if (known.contains(name)) continue;
      throw ProblemError(file + ": templates." + kernel.name + ".workspace." + name + ": " +
                         extent.text() + ": allowed: the names of workspace arguments: " +
                         (allowed.empty() ? "there are none" : allowed));
    }
  }
}

bool takes_map_of(const Problem& problem, const KernelSpec& kernel, std::size_t buffer) {
  for (std::size_t i = 0; i < problem.arguments.size(); ++i) {
    const auto& map = problem.arguments[i].tensor_map;
    if (map && map->position == buffer && kernel.takes(i)) return true;
  }
  return false;
}

/// Throws if no step of `kernel` takes an output as an argument, directly or by a tensor map,
/// because the kernel then cannot write the output.
void require_outputs_taken(const Problem& problem, const KernelSpec& kernel,
                           const std::string& where) {
  for (std::size_t i = 0; i < problem.arguments.size(); ++i) {
    const Argument& argument = problem.arguments[i];
    if (!argument.is_output() || kernel.takes(i) || takes_map_of(problem, kernel, i)) continue;
    throw ProblemError(
        fmt::format("{}.steps: no step takes output '{}'; list it in \"arguments\" of a step",
                    where, argument.name));
  }
}

/// Throws if a kernel of several steps has "independent_ctas" or "cta_of_row", because a check can
/// run single CTAs only of a kernel with one grid.
void require_whole_sequences(const KernelSpec& kernel, const std::string& where) {
  if (kernel.steps.size() < 2) return;
  const auto refuse = [&](const char* key) {
    throw ProblemError(
        fmt::format("{}.{}: not supported with several steps, which run all CTAs", where, key));
  };
  if (kernel.independent_ctas.text() != "0") refuse("independent_ctas");
  if (kernel.cta_of_row) refuse("cta_of_row");
}

void require_steps(const Problem& problem, const std::string& file) {
  const auto check = [&](const KernelSpec& kernel, const std::string& where) {
    require_outputs_taken(problem, kernel, where);
    require_whole_sequences(kernel, where);
  };
  if (problem.reference.kernel) check(*problem.reference.kernel, file + ": reference");
  for (const KernelSpec& kernel : problem.templates) {
    check(kernel, file + ": templates." + kernel.name);
  }
}

/// Throws unless all kernel parameters precede the __constant__ variables in "arguments".
void require_constants_last(const Problem& problem, const std::string& file) {
  bool behind = false;
  for (const Argument& argument : problem.arguments) {
    if (behind && !argument.is_constant()) {
      throw ProblemError(file + ": arguments: '" + argument.name +
                         "' follows a __constant__ variable; list the parameters of the "
                         "kernel first, then arguments of \"kind\": \"constant\"");
    }
    behind = argument.is_constant();
  }
}

/// The key in problem.json that gives `name` to a shape macro or a shape variable; empty if none
/// does.
std::string shape_name_at(const Problem& problem, const std::string& name) {
  for (const auto& [macro, unused] : problem.shape_macros) {
    if (macro == name) return "macros." + name;
  }
  for (const Shape& shape : problem.shapes) {
    if (shape.variables.contains(name)) return "shapes." + shape.name + ".variables." + name;
  }
  return {};
}

/// Throws if the name of a macro of the reference kernel is also that of a formula, a shape macro
/// or a shape variable of the problem.
void require_own_reference_macros(const Problem& problem, const std::string& file) {
  for (const auto& [name, value] : problem.reference.macros) {
    const std::string where =
        problem.let.contains(name) ? "let." + name : shape_name_at(problem, name);
    if (where.empty()) continue;
    throw ProblemError(file + ": reference.macros." + name + ": " + where +
                       " has this name and is also given to the reference; choose another");
  }
}

/// Throws if the extent, "compare" or "row" of an output depends on names with which neither the
/// tolerance nor a check program can judge the output.
void require_judged(const Problem& problem, const std::string& file) {
  for (const Argument& argument : problem.arguments) {
    if (!argument.is_output()) continue;
    const std::string where = file + ": arguments: " + argument.name;
    const bool by_shape = depends_only_on(argument.size, problem.shapes.front().variables);
    if (!by_shape && !argument.is_sized_by_macros) {
      throw ProblemError(where + ".extent: '" + argument.size.text() +
                         "': allowed: shape variables; for out also macros of the space, if "
                         "the problem has a \"check\" program");
    }
    if (argument.compared &&
        (argument.is_sized_by_macros ||
         !depends_only_on(*argument.compared, problem.shapes.front().variables))) {
      throw ProblemError(where + ".compare: '" + argument.compared->text() +
                         "': allowed: true, false or, if the extent depends on the shape "
                         "alone, a number of elements as an expression of shape variables");
    }
    if (argument.is_sized_by_macros && argument.row) {
      throw ProblemError(where + ".row: not supported if the extent depends on macros");
    }
    if (argument.is_sized_by_macros && problem.reference.kernel &&
        problem.reference.macros.empty()) {
      throw ProblemError(
          where + ".extent: '" + argument.size.text() +
          "': the reference kernel has no \"macros\"; an output whose extent depends "
          "on macros needs them, \"set\", or a \"check\" program without a reference");
    }
  }
}

void require_outputs(const Problem& problem, const std::string& file) {
  const auto& files = problem.reference.files;
  if (files.empty()) return;
  for (const Argument& argument : problem.arguments) {
    if (argument.is_drawn()) {
      throw ProblemError(file + ": reference.files: argument '" + argument.name +
                         "' is drawn anew for every seed; allowed with \"files\": generators of "
                         "\"file\", \"formula\" and \"constant\"");
    }
    if (argument.is_expected() && !files.contains(argument.name)) {
      throw ProblemError(file + ": reference.files: no file for output '" + argument.name + "'");
    }
  }
  for (const auto& [name, value] : files) {
    const auto is_named = [&name = name](const Argument& argument) {
      return argument.name == name && argument.is_expected();
    };
    if (std::ranges::any_of(problem.arguments, is_named)) continue;
    throw ProblemError(file + ": reference.files." + name + ": there is no output of this name");
  }
}

/// Throws if a formula of "let" has the name of a macro or a shape variable, because each use of
/// the name is replaced by the formula.
void require_own_formulas(const Problem& problem, const std::string& file) {
  for (const auto& [name, formula] : problem.let) {
    const std::string where = shape_name_at(problem, name);
    if (where.empty()) continue;
    throw ProblemError(file + ": let." + name + ": " + where + " has this name; choose another");
  }
}

void require_positive(const std::string& key, const Expression& expression, const Values& values) {
  const double value = expression.evaluate(values);
  if (value > 0) return;
  throw ProblemError(key + ": " + expression.described(values) + ": is " +
                     fmt::format("{}", value) + "; allowed: more than 0");
}

/// Evaluates the expressions of `kernel` that depend on the shape alone. Expressions that depend on
/// macros are evaluated for each candidate, and an invalid value rejects the candidate.
void check_kernel(const Problem& problem, const KernelSpec& kernel, const Values& values) {
  bool may_run = false;
  for (const KernelStep& step : kernel.steps) {
    const bool is_known = !step.when || depends_only_on(*step.when, values);
    const bool is_left_out = is_known && !step.runs(values);
    may_run |= !is_left_out;
    // Checks only steps that certainly run, because the launch expressions of a skipped step need
    // no valid value.
    if (is_known && !is_left_out) step.launch.check(values);
  }
  if (!may_run) (void)kernel.launch(values);
  kernel.tolerance.check(values);
  if (depends_only_on(kernel.independent_ctas, values)) {
    (void)kernel.independent_ctas.evaluate(values);
  }
  for (const Argument& argument : problem.arguments) {
    if (!argument.belongs_to_kernel()) continue;
    const Expression& extent = kernel.extent_of(argument);
    if (depends_only_on(extent, values)) (void)argument.bytes(values, extent);
  }
  check_tensor_maps(problem, kernel, values);
}

/// Returns the problem's macros for `shape`. Throws if a macro and a shape variable have the same
/// name but different values.
Values macros_of(const Problem& problem, const Shape& shape) {
  Values macros = problem.macros_for(shape);
  for (const auto& [macro, expression] : problem.shape_macros) {
    const auto variable = shape.variables.find(macro);
    if (variable == shape.variables.end() || variable->second == macros[macro]) continue;
    throw ProblemError(expression.described(shape.variables) + ": macro '" + macro + "' is " +
                       Json(macros[macro]).dump() + ", but the shape's variable of this name is " +
                       Json(variable->second).dump() + "; choose another name");
  }
  return macros;
}

void check_shape(const Problem& problem, const Shape& shape) {
  const Values& variables = shape.variables;
  require_positive("flops", problem.flops, variables);
  for (const Argument& argument : problem.arguments) {
    if (argument.direction == Direction::kScalar) {
      if (!argument.is_set_by_macros) (void)argument.scalar_bytes(variables);
    } else if (!argument.belongs_to_kernel() && !argument.tensor_map) {
      if (argument.texture) (void)argument.texture_spec(variables);
      (void)argument.compared_bytes(variables);
      (void)argument.row_length(variables);
    }
  }
  // Checked after the extents, from which the default comes: an error of an extent names its key.
  require_positive("bytes (default: each buffer once)", problem.bytes, variables);
  const Values macros = macros_of(problem, shape);
  const Values values = merged({&variables, &macros});
  for (const Argument& argument : problem.arguments) check_input(problem, argument, shape, values);
  for (const auto& [output, name] : problem.reference.files) {
    (void)problem.data_file("reference.files." + output, name, shape);
  }
  for (std::size_t i = 0; i < problem.program_files.size(); ++i) {
    const std::string key = fmt::format("program_files[{}]", i);
    (void)problem.data_file(key, problem.program_files[i], shape);
  }
  if (problem.reference.kernel) {
    const Values own = problem.reference.macro_values();
    check_kernel(problem, *problem.reference.kernel, merged({&own, &values}));
  }
  for (const KernelSpec& kernel : problem.templates) {
    if (kernel.shapes_where.evaluate(variables) != 0) check_kernel(problem, kernel, values);
  }
}

}  // namespace

void check_problem(const Problem& problem, const std::string& file) {
  require_distinct_names(problem, file);
  require_rows(problem, file);
  require_workspaces(problem, file);
  require_own_formulas(problem, file);
  require_constants_last(problem, file);
  require_steps(problem, file);
  require_own_reference_macros(problem, file);
  require_judged(problem, file);
  require_outputs(problem, file);
  for (const Shape& shape : problem.shapes) {
    try {
      check_shape(problem, shape);
    } catch (const InputError& error) {
      std::string_view message = error.what();
      if (message.starts_with(file + ": ")) message.remove_prefix(file.size() + 2);
      throw ProblemError(file + ": shapes." + shape.name + ": " + std::string(message));
    }
  }
}

}  // namespace evo
