#include "engine/gate/correctness/check_times.hpp"

#include <algorithm>

namespace evo {
namespace {

constexpr std::size_t kFewestKernels = 3;
/// The next kernel's ratio may lie outside those that are known by this factor.
constexpr double kSlack = 1.05;
/// Of this a launch between two events takes longer than one among many, whatever the kernel is.
constexpr double kAloneUs = 5;
/// Times of different minutes differ by as much: a clock that drifts.
constexpr double kOtherMinute = 1.02;

}  // namespace

void CheckTimes::learn(const Place& place, double check_us, double timed_us) {
  if (check_us <= 0 || timed_us <= 0) return;
  std::vector<double>& ratios = ratios_[place];
  const double ratio = check_us / timed_us;
  ratios.insert(std::ranges::upper_bound(ratios, ratio), ratio);
}

bool CheckTimes::knows(const Place& place) const {
  const auto found = ratios_.find(place);
  return found != ratios_.end() && found->second.size() >= kFewestKernels;
}

Interval CheckTimes::interval_of(const Place& place, double check_us) const {
  const std::vector<double>& ratios = ratios_.at(place);
  const double highest = std::max(ratios.back() * kSlack, 1.0);
  return {std::max(check_us - kAloneUs, 0.0) / highest, check_us * kSlack / ratios.front()};
}

Timing CheckTimes::timing_of(const Place& place, double check_us, int launches) const {
  const Interval interval = interval_of(place, check_us);
  const double median_us = check_us / quantile(ratios_.at(place), 0.5);
  const double std_us = (interval.high - interval.low) / 4;
  return {.kind = TimeKind::kMeasured,
          .p50_us = median_us,
          .p90_us = interval.high,
          .p99_us = interval.high,
          .mean_us = median_us,
          .std_us = std_us,
          .cv = std_us / median_us,
          .samples = launches,
          .complete = false};
}

bool CheckTimes::is_surely_slower(const Place& place, double check_us, double limit_us) const {
  return knows(place) && interval_of(place, check_us).low > kOtherMinute * limit_us;
}

}  // namespace evo
