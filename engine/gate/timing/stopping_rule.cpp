#include "engine/gate/timing/stopping_rule.hpp"

#include <algorithm>

#include "engine/core/statistics.hpp"

namespace evo {
namespace {

constexpr double kSureZ = 3;  // standard deviations of a 99.7 % interval
// Number of samples between two evaluations, each of which sorts all samples.
constexpr std::size_t kSureEvery = 5;

}  // namespace

void StoppingRule::add_measurement(double time_us) {
  samples_us_.push_back(time_us);
  fastest_us_ = std::min(fastest_us_, time_us);
  stopped_early_ = stopped_early_ || is_far_slower() || is_surely_slower();
}

bool StoppingRule::is_far_slower() const {
  return std::ranges::any_of(options_.early_stop, [&](const StoppingOptions::EarlyStopLook& look) {
    return samples_us_.size() >= look.samples && fastest_us_ > look.times * options_.early_stop_us;
  });
}

bool StoppingRule::is_surely_slower() {
  if (samples_us_.size() < next_sure_look_) return false;
  next_sure_look_ = samples_us_.size() + kSureEvery;
  const double limit_us = options_.early_stop_us;
  return median_interval(sorted(), kSureZ).low > other_minute(limit_us) * limit_us;
}

std::vector<double> StoppingRule::sorted() const {
  std::vector<double> sorted = samples_us_;
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

bool StoppingRule::is_precise() const {
  const std::vector<double> samples = sorted();
  const Interval interval = median_interval(samples);
  return interval.high - interval.low <= 2 * options_.relative_interval * quantile(samples, 0.5);
}

bool StoppingRule::is_finished() const {
  if (stopped_early()) return true;
  const std::size_t count = samples_us_.size();
  if (count < options_.least_samples) return false;
  if (count >= options_.most_samples) return true;
  // Evaluates the precision only once per least_samples / 4 samples, because each evaluation sorts
  // the samples, and because a chance result may end the timing too soon.
  const std::size_t look_every = std::max<std::size_t>(options_.least_samples / 4, 1);
  return (count - options_.least_samples) % look_every == 0 && is_precise();
}

}  // namespace evo
