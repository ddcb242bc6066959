#include "engine/device/launch_steps.hpp"

#include <fmt/format.h>

#include "engine/core/error.hpp"

namespace evo {

namespace {

/// Returns `argument`. If it is a tensor map, sets the map's buffer, which is another element of
/// `arguments`.
KernelArgument parameter_of(const KernelArgument& argument,
                            std::span<const KernelArgument> arguments) {
  const auto* given = std::get_if<TensorMapArgument>(&argument);
  if (given == nullptr) return argument;
  const auto* buffer =
      given->of < arguments.size() ? std::get_if<BufferId>(&arguments[given->of]) : nullptr;
  if (buffer == nullptr) {
    throw InputError(fmt::format("tensor map '{}': argument {} of the launch is not a buffer",
                                 given->spec.name, given->of));
  }
  TensorMapArgument map = *given;
  map.buffer = *buffer;
  return map;
}

}  // namespace

std::vector<KernelArgument> parameters_of(const LaunchStep& step,
                                          std::span<const KernelArgument> arguments) {
  std::vector<KernelArgument> parameters;
  if (!step.arguments) {
    for (const KernelArgument& argument : arguments)
      parameters.push_back(parameter_of(argument, arguments));
    return parameters;
  }
  for (const std::size_t position : *step.arguments) {
    if (position >= arguments.size()) {
      throw InputError(
          fmt::format("a step takes argument {} (counted from 0), but the launch has {} arguments",
                      position, arguments.size()));
    }
    parameters.push_back(parameter_of(arguments[position], arguments));
  }
  return parameters;
}

Fault in_step(Fault fault, const LaunchPlan& plan, const std::string& symbol) {
  if (plan.steps.size() > 1) fault.reason = fmt::format("step {}: {}", symbol, fault.reason);
  return fault;
}

}  // namespace evo
