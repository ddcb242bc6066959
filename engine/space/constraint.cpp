#include "engine/space/constraint.hpp"

#include <optional>

#include "engine/core/error.hpp"

namespace evo {
namespace {

/// Conditions with at most this many combinations of values are tabulated, which takes at most
/// about 5 ms.
constexpr double kLargestTable = 65536;

std::string macro_list(const std::vector<Parameter>& parameters) {
  std::string list;
  for (const Parameter& parameter : parameters) {
    list.append(list.empty() ? "" : ", ").append(parameter.macro);
  }
  return list;
}

}  // namespace

ConditionNames::ConditionNames(const std::vector<Parameter>& list) : values(value_names(list)) {
  for (std::size_t i = 0; i < list.size(); ++i) parameters[list[i].macro] = i;
}

Constraint::Constraint(const std::string& expression, const std::vector<Parameter>& parameters,
                       const ConditionNames& names)
    : parameters_(&parameters), expression_(expression, names.values) {
  for (const std::string& name : expression_.variables()) {
    const auto found = names.parameters.find(name);
    if (found == names.parameters.end()) {
      throw InputError(
          "'" + name +
          "' is unknown; allowed: macros, named values, and names of the problem, the timed "
          "shape or the device; macros: " +
          macro_list(parameters));
    }
    scope_.push_back(found->second);
    combinations_ *= static_cast<double>(parameters[found->second].values.size());
  }
  if (combinations_ <= kLargestTable) tabulate();
}

void Constraint::tabulate() {
  std::vector<std::uint16_t> choice(parameters_->size(), 0);
  table_.resize(static_cast<std::size_t>(combinations_));
  for (std::size_t entry = 0; entry < table_.size(); ++entry) {
    std::size_t rest = entry;
    for (const std::size_t parameter : scope_) {
      const std::size_t radix = (*parameters_)[parameter].values.size();
      choice[parameter] = static_cast<std::uint16_t>(rest % radix);
      rest /= radix;
    }
    table_[entry] = evaluate(choice);
  }
}

bool Constraint::evaluate(std::span<const std::uint16_t> choice) const {
  std::vector<double> values;
  values.reserve(scope_.size());
  for (const std::size_t parameter : scope_) {
    values.push_back((*parameters_)[parameter].values[choice[parameter]].number);
  }
  const std::optional<double> value = expression_.try_evaluate(values);
  return value && *value != 0.0;
}

bool Constraint::holds(std::span<const std::uint16_t> choice) const {
  if (!is_tabulated()) return evaluate(choice);
  std::size_t entry = 0;
  std::size_t stride = 1;
  for (const std::size_t parameter : scope_) {
    entry += stride * choice[parameter];
    stride *= (*parameters_)[parameter].values.size();
  }
  return table_[entry];
}

}  // namespace evo
