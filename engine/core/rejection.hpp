#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace evo {

/// The gates in the order in which a candidate passes them.
enum class Gate { kBuild, kResource, kCorrectness, kTiming, kProfile };

/// The gates' names, in the same order.
inline constexpr auto kGateNames =
    std::to_array<std::string_view>({"build", "resource", "correctness", "timing", "profile"});
inline constexpr std::size_t kGates = kGateNames.size();

[[nodiscard]] constexpr std::string_view to_string(Gate gate) {
  return kGateNames[static_cast<std::size_t>(gate)];
}

/// The inverse of to_string. Throws InputError for any other text, listing the names.
[[nodiscard]] Gate gate_from_string(std::string_view text);

/// Why a candidate failed a gate. A rejection is data, not an error.
struct Rejection {
  Gate gate;
  std::string reason;       ///< one line with the figures, from which a person can act
  std::string detail = {};  ///< the full text: compiler log, list of hazards…
  /// true if only the space's policy forbids the kernel and the device could run it
  bool policy_only = false;
};

}  // namespace evo
