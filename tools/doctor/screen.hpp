#pragma once

#include <string>
#include <vector>

#include "tools/doctor/findings.hpp"

namespace evo {

/// The facts and findings as text, at most 80 columns wide except for longer words.
[[nodiscard]] std::string doctor_screen(const Machine& machine,
                                        const std::vector<Finding>& findings);

/// The first part of a GPU's UUID, "GPU-0a1b2c3d" of "GPU-0a1b2c3d-1111-…", which is enough to
/// distinguish the GPUs of a machine.
[[nodiscard]] std::string short_uuid(const std::string& uuid);

}  // namespace evo
