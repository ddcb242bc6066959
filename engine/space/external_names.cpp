#include "engine/space/external_names.hpp"

#include "engine/core/error.hpp"
#include "engine/core/json_reader.hpp"
#include "engine/core/printable.hpp"

namespace evo {

SpaceDefinition placed(SpaceDefinition space, Formulas external_names) {
  for (const Parameter& parameter : space.parameters) external_names.erase(parameter.macro);
  for (const auto& [name, number] : value_names(space.parameters)) external_names.erase(name);
  bool has_changed = false;
  const auto place = [&](std::string& expression, const std::string& shown,
                         const std::string& where) {
    std::string result;
    try {
      result = with_formulas(expression, external_names);
    } catch (const InputError& error) {
      throw SpaceError(space.file + ": " + where + ": '" + shortened(shown) + "': " + error.what());
    }
    has_changed |= result != expression;
    expression = std::move(result);
  };
  for (std::size_t i = 0; i < space.constraints.size(); ++i) {
    ConstraintText& constraint = space.constraints[i];
    const std::string before = constraint.expression;
    place(constraint.expression, constraint.shown(),
          "constraints[" + std::to_string(i) + "].expression");
    if (constraint.expression != before && constraint.written.empty()) constraint.written = before;
  }
  for (std::size_t i = 0; i < space.milestones.size(); ++i) {
    std::string& where = space.milestones[i].where;
    if (where.empty()) continue;
    place(where, where, "milestones[" + std::to_string(i) + "].where");
  }
  if (!has_changed) return space;
  Json json = parse_json(space.text, space.file);
  for (std::size_t i = 0; i < space.constraints.size(); ++i) {
    json["constraints"][i]["expression"] = space.constraints[i].expression;
  }
  for (std::size_t i = 0; i < space.milestones.size(); ++i) {
    if (!space.milestones[i].where.empty()) {
      json["milestones"][i]["where"] = space.milestones[i].where;
    }
  }
  constexpr int kIndent = 2;
  space.text = json.dump(kIndent);
  return space;
}

}  // namespace evo
