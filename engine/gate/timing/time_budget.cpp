#include "engine/gate/timing/time_budget.hpp"

#include <algorithm>
#include <cmath>

#include "engine/gate/correctness/check_kind.hpp"

namespace evo {
namespace {

constexpr double kShortLaunchUs = 100;
constexpr double kLeastSamples = 3;
constexpr double kLeastPairs = 10;
/// The times of all warm-ups and of most_samples, divided by the time of least_samples.
constexpr double kShareOfWarmups = 0.2;
constexpr double kShareOfMost = 1.4;
/// For launches of at least this length, the time of least_samples is multiplied by kShareOfLong,
/// because a few launches of this length give a precise time.
constexpr double kLongLaunchUs = 1000;
constexpr double kShareOfLong = 0.6;
/// For very long launches, this factor replaces kShareOfLong, because even the first launch gives a
/// precise time.
constexpr double kShareOfVeryLong = 0.25;
constexpr std::size_t kLeastOfLong = 10;

/// The number of items that fit into `all_us` if each item takes `each_us`, within the bounds
/// `least` and `most`.
std::size_t fitting(double all_us, double each_us, double least, std::size_t most) {
  const double count = std::floor(all_us / each_us);
  return static_cast<std::size_t>(
      std::clamp(count, least, std::max(least, static_cast<double>(most))));
}

}  // namespace

TimeBudget::TimeBudget(const Wanted& wanted, double launch_us, double sample_us) {
  const double growth = std::sqrt(std::max(launch_us / kShortLaunchUs, 1.0));
  const auto least_wanted = static_cast<double>(wanted.least_samples);
  const double all_us = least_wanted * wanted.sample_us * growth;
  // A sample of short launches may take slightly longer than requested. The budget ignores this
  // difference.
  const double each_us = launch_us <= kShortLaunchUs ? wanted.sample_us : sample_us;
  const double each_launch_us = std::max(launch_us, 1e-3);
  warmups_ = static_cast<int>(fitting(kShareOfWarmups * all_us, each_launch_us, 1,
                                      static_cast<std::size_t>(wanted.warmups)));
  least_samples_ =
      fitting(all_us, each_us, std::min(kLeastSamples, least_wanted), wanted.least_samples);
  if (launch_us >= kLongLaunchUs) {
    const double share = launch_us >= kVeryLongLaunchUs ? kShareOfVeryLong : kShareOfLong;
    least_samples_ = fitting(share * all_us, each_us, std::min(kLeastSamples, least_wanted),
                             std::min(kLeastOfLong, wanted.least_samples));
  }
  const double short_us = static_cast<double>(wanted.most_samples) * wanted.sample_us;
  most_samples_ = std::max(least_samples_, fitting(std::max(short_us, kShareOfMost * all_us),
                                                   each_us, 1, wanted.most_samples));
  const double pairs_us = 2 * static_cast<double>(wanted.pairs) * wanted.sample_us * growth;
  pairs_ = fitting(pairs_us, 2 * each_us, kLeastPairs, wanted.pairs) / 2 * 2;
}

}  // namespace evo
