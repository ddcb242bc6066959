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

std::string_view further_detail(const Rejection& rejection) {
  std::string_view detail = rejection.detail;
  const std::string_view first = detail.substr(0, detail.find('\n'));
  if (rejection.reason.find(first) != std::string::npos) detail.remove_prefix(first.size());
  while (detail.starts_with('\n')) detail.remove_prefix(1);
  while (detail.ends_with('\n')) detail.remove_suffix(1);
  return detail;
}

}  // namespace evo
