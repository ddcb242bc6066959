#pragma once

#include <span>
#include <string>
#include <vector>

#include "engine/device/device.hpp"

namespace evo {

/// The parameters of one step: those of `arguments` that it names, or all. Throws InputError for
/// one that is not there.
[[nodiscard]] std::vector<KernelArgument> parameters_of(const LaunchStep& step,
                                                        std::span<const KernelArgument> arguments);

/// The fault with the kernel's symbol in front, where the plan has several steps.
[[nodiscard]] Fault in_step(Fault fault, const LaunchPlan& plan, const std::string& symbol);

}  // namespace evo
