#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/core/measurement.hpp"
#include "engine/core/statistics.hpp"

namespace evo {

/// The launches that check a kernel, used as a rough clock. Such a launch runs alone, after other
/// work has replaced the contents of the caches, so it takes longer than a timed one. By how much
/// is learned from kernels that were both checked and timed, apart for a device that was idle
/// before the check, whose clocks may be low. All times are in µs of one launch.
class CheckTimes {
 public:
  /// The times depend on this beside the kernel.
  struct Place {
    std::string shape;
    bool was_idle = false;  ///< the device, before the check
    auto operator<=>(const Place&) const = default;
  };

  /// A kernel whose fastest launch in a check took `check_us` has been timed: `timed_us`.
  void learn(const Place& place, double check_us, double timed_us);

  /// Whether enough kernels are known to tell anything.
  [[nodiscard]] bool knows(const Place& place) const;

  /// The rough time; its interval lies within two standard deviations. It is what the known kernels
  /// say in the median: by their ratios, or by their differences where that is more, since a part
  /// of what a launch takes longer is the same for all. Not complete. Needs knows().
  [[nodiscard]] Timing timing_of(const Place& place, double check_us, int launches) const;

  /// Whether the whole interval of the time lies above `limit_us`. False while nothing is known.
  [[nodiscard]] bool is_surely_slower(const Place& place, double check_us, double limit_us) const;

 private:
  [[nodiscard]] Interval interval_of(const Place& place, double check_us) const;

  /// The figures of the kernels that were checked and timed, ascending.
  struct Known {
    std::vector<double> ratios;          ///< check_us / timed_us
    std::vector<double> differences_us;  ///< check_us - timed_us
  };
  std::map<Place, Known> known_;
};

}  // namespace evo
