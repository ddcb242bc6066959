// why_not_measured() lists the values that measure_extents() lacks for running a kernel with small
// sizes.

#include <algorithm>

#include "engine/core/json_reader.hpp"
#include "engine/intake/element_type.hpp"
#include "engine/intake/measured_extents.hpp"

namespace evo {
namespace {

using Kind = DraftArgument::Kind;

bool is_plain_number(const std::string& text) {
  return Json::parse(text, nullptr, false).is_number();
}

}  // namespace

std::string why_not_measured(const Draft& draft) {
  std::string missing;
  const auto needs = [&](const std::string& what) {
    missing += (missing.empty() ? "" : ", ") + what;
  };
  const auto is_open_text = [](const std::string& text) { return is_todo(text); };
  if (draft.variables.empty() || std::ranges::any_of(draft.variables, [](const auto& variable) {
        return !is_plain_number(variable.second);
      })) {
    needs("sizes (--size)");
  }
  for (const DraftStep& step : draft.later_steps) {
    const bool is_open = std::ranges::any_of(step.grid, is_open_text) ||
                         std::ranges::any_of(step.block, is_open_text) ||
                         is_todo(step.dynamic_shared_bytes);
    if (is_open) needs("the launch of " + step.entry + " (repeat --grid, --block, --shared)");
  }
  if (std::ranges::any_of(draft.block, is_open_text)) needs("the block (--block)");
  if (std::ranges::any_of(draft.grid, is_open_text)) needs("the grid (--grid)");
  for (const DraftArgument& argument : draft.arguments) {
    if (argument.kind == Kind::kTexture) continue;
    if (argument.kind == Kind::kTensorMap) {
      needs("the tensor map " + argument.name);
    } else if (is_todo(argument.dtype)) {
      needs("the type of " + argument.name);
    } else if (argument.kind == Kind::kConstant && is_integer_type(argument.dtype)) {
      needs("the content of __constant__ " + argument.name);
    } else if (argument.kind == Kind::kScalar && is_todo(argument.value) &&
               is_integer_type(argument.dtype)) {
      needs("the value of " + argument.name + " (--value " + argument.name + "=…)");
    }
  }
  for (const DraftParameter& parameter : draft.parameters) {
    if (parameter.values.empty()) needs("values of " + parameter.macro + " (--param)");
  }
  return missing;
}

}  // namespace evo
