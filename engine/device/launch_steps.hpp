#pragma once

#include <span>
#include <string>
#include <vector>

#include "engine/device/device.hpp"

namespace evo {

/// The parameters of one step: the arguments that it names, or all. Tensor maps receive the buffers
/// of this launch. Throws InputError for an argument that does not exist.
[[nodiscard]] std::vector<KernelArgument> parameters_of(const LaunchStep& step,
                                                        std::span<const KernelArgument> arguments);

/// The fault, prefixed with the kernel's symbol if the plan has several steps.
[[nodiscard]] Fault in_step(Fault fault, const LaunchPlan& plan, const std::string& symbol);

}  // namespace evo
