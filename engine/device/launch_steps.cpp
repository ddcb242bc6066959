#include "engine/device/launch_steps.hpp"

#include <fmt/format.h>

#include <utility>

#include "engine/core/error.hpp"

namespace evo {

std::vector<KernelArgument> parameters_of(const LaunchStep& step,
                                          std::span<const KernelArgument> arguments) {
  if (!step.arguments) return {arguments.begin(), arguments.end()};
  std::vector<KernelArgument> parameters;
  for (const std::size_t position : *step.arguments) {
    if (position >= arguments.size()) {
      throw InputError(
          fmt::format("a step takes argument {}, the launch gives {}", position, arguments.size()));
    }
    parameters.push_back(arguments[position]);
  }
  return parameters;
}

Fault in_step(Fault fault, const LaunchPlan& plan, const std::string& symbol) {
  if (plan.steps.size() > 1) fault.reason = fmt::format("step {}: {}", symbol, fault.reason);
  return fault;
}

}  // namespace evo
