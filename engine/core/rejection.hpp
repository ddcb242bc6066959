#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace evo {

/// The gates in the order a candidate meets them.
enum class Gate { kBuild, kResource, kCorrectness, kTiming, kProfile };

/// Their names, in the same order.
inline constexpr auto kGateNames =
    std::to_array<std::string_view>({"build", "resource", "correctness", "timing", "profile"});
inline constexpr std::size_t kGates = kGateNames.size();

[[nodiscard]] constexpr std::string_view to_string(Gate gate) {
  return kGateNames[static_cast<std::size_t>(gate)];
}

/// The inverse of to_string. Throws InputError for any other text, listing the names.
[[nodiscard]] Gate gate_from_string(std::string_view text);

/// Why a candidate did not pass: data, not an error.
struct Rejection {
  Gate gate;
  std::string reason;        ///< one line a person can act on, with the figures
  std::string detail = {};   ///< the long form: compiler log, list of hazards…
  bool policy_only = false;  ///< only the space's policy forbids it, the device would run it
};

}  // namespace evo
