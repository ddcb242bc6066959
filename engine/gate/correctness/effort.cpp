#include "engine/gate/correctness/effort.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>

#include "engine/core/error.hpp"

namespace evo {

std::string_view to_string(Effort effort) {
  switch (effort) {
    case Effort::kScreening:
      return "screening";
    case Effort::kFull:
      return "full";
    case Effort::kAfterScreening:
      return "after screening";
  }
  throw std::logic_error("no such effort");
}

Effort effort_from_string(std::string_view text) {
  for (const Effort effort : {Effort::kScreening, Effort::kFull, Effort::kAfterScreening}) {
    if (text == to_string(effort)) return effort;
  }
  throw InputError("unknown effort '" + std::string(text) +
                   "'; allowed: screening, full, after screening");
}

bool allows_repeat(Effort effort, double first_launch_ms) {
  return effort != Effort::kScreening || first_launch_ms <= kFirstLaunchMs;
}

std::size_t launches_allowed(Effort effort, double launch_ms) {
  constexpr double kFewestAfterScreening = 2;
  if (effort == Effort::kScreening && launch_ms > kLongLaunchMs) {
    return static_cast<std::size_t>(std::max(kScreeningMs / launch_ms, 1.0));
  }
  if (effort == Effort::kAfterScreening && launch_ms > kLongLaunchMs) {
    return static_cast<std::size_t>(std::max(kAfterScreeningMs / launch_ms, kFewestAfterScreening));
  }
  return std::numeric_limits<std::size_t>::max();
}

}  // namespace evo
