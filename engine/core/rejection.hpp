#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace evo {

/// The gates in the order in which a candidate passes them.
enum class Gate { kBuild, kResource, kCorrectness, kTiming, kProfile };

/// The names of the gates, in the order of Gate.
inline constexpr auto kGateNames =
    std::to_array<std::string_view>({"build", "resource", "correctness", "timing", "profile"});
inline constexpr std::size_t kGates = kGateNames.size();

[[nodiscard]] constexpr std::string_view to_string(Gate gate) {
  return kGateNames[static_cast<std::size_t>(gate)];
}

/// The inverse of to_string(Gate). Throws InputError, which lists the gates' names, if `text` is
/// none of them.
[[nodiscard]] Gate gate_from_string(std::string_view text);

/// The reason why a candidate failed a gate. A rejection is a result of a run, not an error.
struct Rejection {
  Gate gate;
  std::string reason;       ///< one line with the figures that a person needs to act
  std::string detail = {};  ///< the full text, such as a compiler log or a list of hazards
  /// true if the device could run the kernel and only the space's policy forbids it
  bool policy_only = false;
};

/// The lines of the rejection's detail, without the first line if the reason contains it, and
/// without empty lines at both ends.
[[nodiscard]] std::string_view further_detail(const Rejection& rejection);

}  // namespace evo
