#include "engine/gate/effort.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "engine/core/error.hpp"

namespace evo {

std::string_view to_string(Effort effort) {
  return effort == Effort::kScreening ? "screening" : "full";
}

Effort effort_from_string(std::string_view text) {
  for (const Effort effort : {Effort::kScreening, Effort::kFull}) {
    if (text == to_string(effort)) return effort;
  }
  throw InputError("unknown effort '" + std::string(text) + "'; allowed: screening, full");
}

bool allows_repeat(Effort effort, double first_launch_ms) {
  return effort == Effort::kFull || first_launch_ms <= kFirstLaunchMs;
}

std::size_t launches_allowed(Effort effort, double launch_ms) {
  if (effort == Effort::kFull || launch_ms <= kLongLaunchMs) {
    return std::numeric_limits<std::size_t>::max();
  }
  return static_cast<std::size_t>(std::max(kScreeningMs / launch_ms, 1.0));
}

}  // namespace evo
