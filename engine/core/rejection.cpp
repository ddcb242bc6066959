#include "engine/core/rejection.hpp"

#include <algorithm>

#include "engine/core/error.hpp"

namespace evo {

Gate gate_from_string(std::string_view text) {
  const auto found = std::ranges::find(kGateNames, text);
  if (found != kGateNames.end()) return static_cast<Gate>(found - kGateNames.begin());
  std::string allowed;
  for (const std::string_view name : kGateNames) {
    allowed.append(allowed.empty() ? "" : ", ").append(name);
  }
  throw InputError("unknown gate '" + std::string(text) + "'; allowed: " + allowed);
}

}  // namespace evo
