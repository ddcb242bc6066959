#pragma once

#include <cstddef>
#include <string_view>

namespace evo {

/// How much a check does.
enum class Effort {
  kScreening,       ///< fewer launches on shapes where each of them is long
  kFull,            ///< all seeds and a repeat on every shape
  kAfterScreening,  ///< the same, and as many launches as in production: what screening and timing
                    ///< left out, before a kernel may enter the elite
};

/// "screening", "full" or "after screening".
[[nodiscard]] std::string_view to_string(Effort effort);

/// The inverse of to_string. Throws InputError for any other text.
[[nodiscard]] Effort effort_from_string(std::string_view text);

/// A launch above this, in ms, is long.
inline constexpr double kLongLaunchMs = 1;
/// What a screening spends on the long launches of one shape, in ms.
inline constexpr double kScreeningMs = 10;
/// The same of the full check before a kernel enters the elite: the small shapes meet all seeds,
/// and launches that are timed are verified, too.
inline constexpr double kAfterScreeningMs = 200;

/// A launch above this, in µs, is very long: loading the kernel, and clocks that rise when work
/// begins, are nothing to it.
inline constexpr double kVeryLongLaunchUs = 10'000;

/// A first launch up to this, in ms, may be long only because it is the first one: the driver may
/// load a kernel when it is launched.
inline constexpr double kFirstLaunchMs = 50;

/// Whether a check launches a second time, when the first launch took so long.
[[nodiscard]] bool allows_repeat(Effort effort, double first_launch_ms);

/// How many launches of one shape a check makes at most, at least one, when one takes `launch_ms`.
[[nodiscard]] std::size_t launches_allowed(Effort effort, double launch_ms);

}  // namespace evo
