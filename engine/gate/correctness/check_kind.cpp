#include "engine/gate/correctness/check_kind.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>

#include "engine/core/error.hpp"

namespace evo {

std::string_view to_string(CheckKind check_kind) {
  switch (check_kind) {
    case CheckKind::kQuick:
      return "quick";
    case CheckKind::kFull:
      return "full";
    case CheckKind::kAfterQuick:
      return "after quick";
  }
  throw std::logic_error("no such kind of check");
}

CheckKind check_kind_from_string(std::string_view text) {
  for (const CheckKind check_kind : {CheckKind::kQuick, CheckKind::kFull, CheckKind::kAfterQuick}) {
    if (text == to_string(check_kind)) return check_kind;
  }
  throw InputError("unknown kind of check '" + std::string(text) +
                   "'; allowed: quick, full, after quick");
}

bool allows_repeat(CheckKind check_kind, double first_launch_ms) {
  return check_kind != CheckKind::kQuick || first_launch_ms <= kFirstLaunchMs;
}

std::size_t launches_allowed(CheckKind check_kind, double launch_ms) {
  constexpr double kFewestAfterQuickCheck = 2;
  if (check_kind == CheckKind::kQuick && launch_ms > kLongLaunchMs) {
    return static_cast<std::size_t>(std::max(kQuickCheckMs / launch_ms, 1.0));
  }
  if (check_kind == CheckKind::kAfterQuick && launch_ms > kLongLaunchMs) {
    return static_cast<std::size_t>(
        std::max(kAfterQuickCheckMs / launch_ms, kFewestAfterQuickCheck));
  }
  return std::numeric_limits<std::size_t>::max();
}

}  // namespace evo
