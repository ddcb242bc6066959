#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/core/measurement.hpp"
#include "engine/core/statistics.hpp"

namespace evo {

/// Whether check launches took so much longer than timed launches that cold caches and isolated
/// launches do not explain the difference, so that the kernel may be fast only when it detects that
/// it is timed.
[[nodiscard]] bool is_out_of_proportion(double check_us, double timed_us);

/// Estimates a kernel's time from the launches that check its results. A check launch runs alone,
/// after other work has replaced the content of the caches, so it takes longer than a timed launch.
/// CheckTimes learns from kernels that were both checked and timed how much longer a check launch
/// takes. CheckTimes keeps separate data for checks on a device that was idle before, because the
/// clocks of an idle device may be low. All times are in µs per launch.
class CheckTimes {
 public:
  /// The conditions of a check, besides the kernel, that influence the times of its launches.
  struct Place {
    std::string shape;
    bool was_idle = false;  ///< whether the device was idle before the check
    auto operator<=>(const Place&) const = default;
  };

  /// Adds a kernel whose fastest check launch took `check_us` and whose measured time is
  /// `timed_us`. Ignores times that are not positive.
  void learn(const Place& place, double check_us, double timed_us);

  /// Whether learn() received enough kernels checked in `place` for an estimate.
  [[nodiscard]] bool knows(const Place& place) const;

  /// Estimates the kernel's time. Timing::std_us is half of the largest deviation that
  /// interval_of() allows, and p90_us is the upper end of that interval. The estimate uses the
  /// median of Known::ratios or of Known::differences_us, whichever gives the longer time: the
  /// ratios of short launches are too large for long ones, and the differences of long launches too
  /// large for short ones. Timing::complete is false in the result. Requires knows().
  [[nodiscard]] Timing timing_of(const Place& place, double check_us, int launches) const;

  /// Whether the whole interval of the estimated time lies above `limit_us`, with a margin for the
  /// drift of clocks (other_minute). False without knows().
  [[nodiscard]] bool is_surely_slower(const Place& place, double check_us, double limit_us) const;

 private:
  [[nodiscard]] Interval interval_of(const Place& place, double check_us) const;

  /// Data of the kernels that were both checked and timed; each list is in ascending order.
  struct Known {
    std::vector<double> ratios;          ///< check_us / timed_us
    std::vector<double> differences_us;  ///< check_us - timed_us
  };
  std::map<Place, Known> known_;
};

}  // namespace evo
