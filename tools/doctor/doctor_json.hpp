#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "tools/doctor/findings.hpp"

namespace evo {

/// Facts and findings of evo-tune doctor as JSON; docs/doctor.md describes the keys. An unknown
/// value is null.
[[nodiscard]] nlohmann::ordered_json doctor_json(const Machine& machine,
                                                 const std::vector<Finding>& findings);

}  // namespace evo
