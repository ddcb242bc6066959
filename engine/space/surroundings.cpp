#include "engine/space/surroundings.hpp"

#include "engine/core/error.hpp"
#include "engine/core/json_reader.hpp"
#include "engine/core/printable.hpp"

namespace evo {

SpaceDefinition placed(SpaceDefinition space, Formulas surroundings) {
  for (const Parameter& parameter : space.parameters) surroundings.erase(parameter.macro);
  for (const auto& [name, number] : value_names(space.parameters)) surroundings.erase(name);
  bool has_changed = false;
  for (std::size_t i = 0; i < space.constraints.size(); ++i) {
    ConstraintText& constraint = space.constraints[i];
    std::string expression;
    try {
      expression = with_formulas(constraint.expression, surroundings);
    } catch (const InputError& error) {
      throw SpaceError(space.file + ": constraints[" + std::to_string(i) + "].expression: '" +
                       shortened(constraint.shown()) + "': " + error.what());
    }
    if (expression == constraint.expression) continue;
    if (constraint.written.empty()) constraint.written = constraint.expression;
    constraint.expression = std::move(expression);
    has_changed = true;
  }
  if (!has_changed) return space;
  Json json = parse_json(space.text, space.file);
  for (std::size_t i = 0; i < space.constraints.size(); ++i) {
    json["constraints"][i]["expression"] = space.constraints[i].expression;
  }
  constexpr int kIndent = 2;
  space.text = json.dump(kIndent);
  return space;
}

}  // namespace evo
