#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/core/measurement.hpp"
#include "engine/core/statistics.hpp"

namespace evo {

/// Whether check launches took so much longer than timed launches that neither cold caches nor a
/// launch by itself explain it. Such a kernel may be fast only because it knows that it is timed.
[[nodiscard]] bool is_out_of_proportion(double check_us, double timed_us);

/// Uses the launches that check a kernel as a rough timing. A check launch runs alone after other
/// work has evicted the caches, so it takes longer than a timed launch. The excess is learned from
/// kernels that were both checked and timed. It is learned separately for devices that were idle
/// before the check, because their clocks may be low. All times are in µs per launch.
class CheckTimes {
 public:
  /// The influence on the times beside the kernel.
  struct Place {
    std::string shape;
    bool was_idle = false;  ///< whether the device was idle before the check
    auto operator<=>(const Place&) const = default;
  };

  /// Adds a kernel whose fastest check launch took `check_us` and whose measured time is
  /// `timed_us`.
  void learn(const Place& place, double check_us, double timed_us);

  /// Whether enough kernels are known for an estimate.
  [[nodiscard]] bool knows(const Place& place) const;

  /// The estimated time, with an interval of two standard deviations. It is the median estimate of
  /// the known kernels, by their ratios or by their differences, whichever is larger, because a
  /// part of the excess is the same for all kernels. Marked incomplete. Requires knows().
  [[nodiscard]] Timing timing_of(const Place& place, double check_us, int launches) const;

  /// Whether the whole interval of the estimate lies above `limit_us`. False while nothing is
  /// known.
  [[nodiscard]] bool is_surely_slower(const Place& place, double check_us, double limit_us) const;

 private:
  [[nodiscard]] Interval interval_of(const Place& place, double check_us) const;

  /// Figures of the kernels that were checked and timed, in ascending order.
  struct Known {
    std::vector<double> ratios;          ///< check_us / timed_us
    std::vector<double> differences_us;  ///< check_us - timed_us
  };
  std::map<Place, Known> known_;
};

}  // namespace evo
