#pragma once

#include <span>
#include <string>
#include <vector>

#include "engine/device/device.hpp"

namespace evo {

/// The arguments of one step of a launch: those that the step lists, or all of `arguments`. If an
/// argument is a tensor map, sets TensorMapArgument::buffer in the result. Throws InputError if the
/// step lists an argument that does not exist.
[[nodiscard]] std::vector<KernelArgument> parameters_of(const LaunchStep& step,
                                                        std::span<const KernelArgument> arguments);

/// Adds the kernel's symbol to the reason of `fault` if the plan has several steps.
[[nodiscard]] Fault in_step(Fault fault, const LaunchPlan& plan, const std::string& symbol);

}  // namespace evo
