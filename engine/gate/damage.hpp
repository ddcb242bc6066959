#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/gate/cases.hpp"

namespace evo {

/// What kernels did that they must not have done to the buffers of `arguments` (a launch on `data`,
/// or on a copy of it): the first guard zone that was overwritten, else the first input that
/// changed. Guard zones are repaired; changed inputs are not.
[[nodiscard]] std::optional<std::string> find_damage(Device& device, const Problem& problem,
                                                     const std::vector<KernelArgument>& arguments,
                                                     const CheckCase& data);

}  // namespace evo
