#pragma once

#include <string>
#include <vector>

#include "tools/doctor/findings.hpp"

namespace evo {

/// One screen for people, at most 80 columns wide but for words that are longer.
[[nodiscard]] std::string doctor_screen(const Machine& machine,
                                        const std::vector<Finding>& findings);

/// The first part of "GPU-0a1b2c3d-1111-…", "GPU-0a1b2c3d": enough to tell the cards of a machine
/// apart.
[[nodiscard]] std::string short_uuid(const std::string& uuid);

}  // namespace evo
