#pragma once

#include <cstddef>
#include <string_view>

#include "engine/core/measurement.hpp"

namespace evo {

/// The extent of a correctness check.
enum class CheckKind {
  kQuick,  ///< fewer launches on shapes with long launches or, on a virtual GPU, much work
  kFull,   ///< all launches that CorrectnessOptions requests
  /// the check after a quick check and timing, without a limit of launches unless launches are
  /// long; required before a kernel that passed a quick check may enter the elite
  kAfterQuick,
};

/// "quick", "full" or "after quick".
[[nodiscard]] std::string_view to_string(CheckKind check_kind);

/// The inverse of to_string. Throws InputError if `text` names no kind of check.
[[nodiscard]] CheckKind check_kind_from_string(std::string_view text);

/// Launches that take more than this time, in ms, count as long.
inline constexpr double kLongLaunchMs = 1;
/// The time in ms that a quick check spends on one shape if its launches are long.
inline constexpr double kQuickCheckMs = 10;
/// The time in ms that a check with CheckKind::kAfterQuick spends on one shape if its launches are
/// long. A short time is enough, because kAfterQuick checks shapes with short launches with
/// all seeds, and because timed launches are verified, too.
inline constexpr double kAfterQuickCheckMs = 200;

/// A quick check repeats a first launch of at most this time, in ms, because such a launch may be
/// long only because the driver loads the kernel at its first launch.
inline constexpr double kFirstLaunchMs = 50;

/// Whether a check repeats the first launch if that launch took `first_launch_ms`.
[[nodiscard]] bool allows_repeat(CheckKind check_kind, double first_launch_ms);

/// The most launches that a check on a GPU makes on one shape, at least one, if one launch takes
/// `launch_ms`.
[[nodiscard]] std::size_t launches_allowed(CheckKind check_kind, double launch_ms);

}  // namespace evo
