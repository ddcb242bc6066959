#include "engine/gate/stopping_rule.hpp"

#include <algorithm>

#include "engine/core/statistics.hpp"

namespace evo {

void StoppingRule::add_measurement(double time_us) {
  samples_us_.push_back(time_us);
  fastest_us_ = std::min(fastest_us_, time_us);
}

bool StoppingRule::gave_up() const {
  return samples_us_.size() >= options_.samples_to_give_up && fastest_us_ > options_.give_up_us;
}

bool StoppingRule::is_precise() const {
  std::vector<double> sorted = samples_us_;
  std::sort(sorted.begin(), sorted.end());
  const Interval interval = median_interval(sorted);
  return interval.high - interval.low <= 2 * options_.relative_interval * quantile(sorted, 0.5);
}

bool StoppingRule::is_finished() const {
  if (gave_up()) return true;
  if (samples_us_.size() < options_.least_samples) return false;
  if (samples_us_.size() >= options_.most_samples) return true;
  constexpr std::size_t kLookEvery = 25;  // the interval costs a sort
  return samples_us_.size() % kLookEvery == 0 && is_precise();
}

}  // namespace evo
