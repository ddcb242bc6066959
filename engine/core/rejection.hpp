#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace evo {

/// The gates in the order a candidate meets them.
enum class Gate { kBuild, kResource, kCorrectness, kTiming, kProfile };
inline constexpr std::size_t kGates = 5;

/// "build", "resource", "correctness", "timing" or "profile".
[[nodiscard]] std::string_view to_string(Gate gate);

/// The inverse of to_string. Throws InputError for any other text.
[[nodiscard]] Gate gate_from_string(std::string_view text);

/// Why a candidate did not pass: data, not an error.
struct Rejection {
  Gate gate;
  std::string reason;        ///< one line a person can act on, with the figures
  std::string detail = {};   ///< the long form: compiler log, list of hazards…
  bool policy_only = false;  ///< only the space's policy forbids it, the device would run it
};

}  // namespace evo
