#include "engine/evaluate/validity.hpp"

#include <algorithm>

#include "engine/core/formulas.hpp"
#include "engine/problem/external_names.hpp"
#include "engine/problem/known_names.hpp"
#include "engine/space/external_names.hpp"
#include "engine/space/parameter.hpp"

namespace evo {
namespace {

bool depends_on_shape(const std::string& expression, const Shape& shape) {
  const Expression parsed(expression);
  return std::ranges::any_of(
      parsed.variables(), [&](const std::string& name) { return shape.variables.contains(name); });
}

/// The formulas that replace names in a constraint, as in formulas_for_constraints(). Names that a
/// ShapeCondition may contain (shape variables, macros, SM_COUNT) have no formula and are kept.
Formulas external_names(const Problem& problem, const KernelSpec& kernel,
                        const SpaceDefinition& space, const Shape& timed,
                        const DeviceInfo& device) {
  Formulas formulas = formulas_for_constraints(problem, kernel, timed, device);
  formulas.erase("SM_COUNT");
  for (const auto& [name, expression] : problem.shape_macros) formulas[name] = expression.text();
  for (const auto& [name, value] : timed.variables) formulas.erase(name);
  for (const auto& [name, formula] : space.let) formulas[name] = formula;
  for (const Parameter& parameter : space.parameters) formulas.erase(parameter.macro);
  for (const auto& [name, number] : value_names(space.parameters)) formulas.erase(name);
  return formulas;
}

}  // namespace

SpaceDefinition placed_space(const SpaceDefinition& space, const Problem& problem,
                             const KernelSpec& kernel, const Shape& shape,
                             const DeviceInfo& device) {
  std::vector<std::string> formulas;
  for (const auto& [name, formula] : space.let) formulas.push_back(name);
  require_own_macros(problem, formulas, space.file);
  return placed(space, formulas_for_constraints(problem, kernel, shape, device));
}

std::vector<ShapeCondition> shape_conditions(const Problem& problem, const KernelSpec& kernel,
                                             const SpaceDefinition& space, const Shape& timed,
                                             const DeviceInfo& device) {
  std::vector<ShapeCondition> conditions;
  const Values macros = problem.macros_for(timed);
  for (const auto& [name, expression] : problem.shape_macros) {
    const std::string value = formula_of(macros.at(name));
    conditions.push_back(
        {"(" + expression.text() + ") == " + value, "compiled with " + name + "=" + value});
  }
  if (!kernel.shapes_where.variables().empty()) {
    conditions.push_back(
        {kernel.shapes_where.text(), "template " + kernel.name + " supports no other shapes"});
  }
  const Formulas formulas = external_names(problem, kernel, space, timed, device);
  for (const ConstraintText& constraint : space.constraints) {
    const std::string expression = with_formulas(constraint.shown(), formulas);
    if (!depends_on_shape(expression, timed)) continue;
    conditions.push_back({expression, constraint.why});
  }
  return conditions;
}

}  // namespace evo
