#include "engine/gate/correctness/check_times.hpp"

#include <algorithm>

namespace evo {
namespace {

constexpr std::size_t kFewestKernels = 3;
/// The ratio of a kernel's check time to its measured time may exceed the largest ratio of earlier
/// kernels, or be below the smallest ratio, by this factor. The factor is smaller for very long
/// launches, because caches and the loading of the kernel make no difference to them.
constexpr double kSlack = 1.05;
constexpr double kSlackOfVeryLong = 1.01;
/// A launch that is timed alone between two CUDA events takes up to this time longer than one of
/// many launches in a graph.
constexpr double kAloneUs = 5;

/// If a launch reads data from memory instead of the L2 cache, its time grows by a factor below
/// kMostTimes. A launch that runs alone, with cold instruction caches, takes less than kMostAloneUs
/// longer than a launch in a graph.
constexpr double kMostTimes = 4;
constexpr double kMostAloneUs = 20;

void insert(std::vector<double>& ascending, double value) {
  ascending.insert(std::ranges::upper_bound(ascending, value), value);
}

}  // namespace

bool is_out_of_proportion(double check_us, double timed_us) {
  return check_us > kMostTimes * timed_us + kMostAloneUs;
}

void CheckTimes::learn(const Place& place, double check_us, double timed_us) {
  if (check_us <= 0 || timed_us <= 0) return;
  Known& known = known_[place];
  insert(known.ratios, check_us / timed_us);
  insert(known.differences_us, check_us - timed_us);
}

bool CheckTimes::knows(const Place& place) const {
  const auto found = known_.find(place);
  return found != known_.end() && found->second.ratios.size() >= kFewestKernels;
}

Interval CheckTimes::interval_of(const Place& place, double check_us) const {
  const Known& known = known_.at(place);
  const double slack = check_us < kVeryLongLaunchUs ? kSlack : kSlackOfVeryLong;
  const double highest = std::max(known.ratios.back() * slack, 1.0);
  return {
      std::max(check_us - kAloneUs, 0.0) / highest,
      std::max(check_us * slack / known.ratios.front(), check_us - known.differences_us.front())};
}

Timing CheckTimes::timing_of(const Place& place, double check_us, int launches) const {
  const Known& known = known_.at(place);
  const Interval interval = interval_of(place, check_us);
  const double median_us = std::max(check_us / quantile(known.ratios, 0.5),
                                    check_us - quantile(known.differences_us, 0.5));
  const double std_us = std::max(median_us - interval.low, interval.high - median_us) / 2;
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
  return knows(place) && interval_of(place, check_us).low > other_minute(limit_us) * limit_us;
}

}  // namespace evo
