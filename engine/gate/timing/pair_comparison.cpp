#include "engine/gate/timing/pair_comparison.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace evo {
namespace {

/// The confidence interval covers 3 standard deviations (99.7 %), so that at most 1 % of the
/// verdicts are false even if samples are slightly dependent.
constexpr double kPairZ = 3.0;
/// If the verdict is computed again after more pairs, the interval is wider, because each
/// computation may give a wrong verdict by chance.
constexpr double kLaterPairZ = 3.5;
/// A smaller relative difference counts as a tie even if it is certain, because the placement of
/// the two kernels' buffers can cause it.
constexpr double kLeastEffect = 0.004;

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return quantile(values, 0.5);
}

LaunchLength length_of(const Stopwatch& first, const Stopwatch& second) {
  if (first.is_very_long() && second.is_very_long()) return LaunchLength::kVeryLong;
  return first.is_long() && second.is_long() ? LaunchLength::kLong : LaunchLength::kShort;
}

}  // namespace

int PairResult::verdict() const {
  if (rejection) return 0;
  if (interval.high < 1 - kLeastEffect) return -1;
  if (interval.low > 1 + kLeastEffect) return 1;
  return 0;
}

void PairSamples::add(double first_us, double second_us) {
  first_us_.push_back(first_us);
  second_us_.push_back(second_us);
  ratios_.push_back(first_us / second_us);
}

bool PairSamples::is_plain() const {
  constexpr double kPlainOfTwo = 0.01;
  const std::size_t count = ratios_.size();
  if (count == 0 || count % 2 != 0) return false;
  const auto [low, high] = std::ranges::minmax(ratios_);
  const double difference = low > 1 ? low - 1 : 1 - high;
  if (length_ == LaunchLength::kVeryLong && count >= kFewestOfVeryLong &&
      difference > kPlainOfTwo && difference > 10 * (high - low)) {
    return true;
  }
  const bool are_long = length_ != LaunchLength::kShort;
  if (count < (are_long ? kFewestOfLong : 6)) return false;
  double times_scatter = 3;
  if (are_long && count >= 6) times_scatter = count < 8 ? 1 : 0.5;
  return difference > kLeastEffect && difference > times_scatter * (high - low);
}

bool PairSamples::is_plain_tie() const {
  const std::size_t fewest = length_ == LaunchLength::kVeryLong ? kFewestOfVeryLong : kFewestOfLong;
  if (ratios_.size() < fewest || ratios_.size() % 2 != 0) return false;
  const auto [low, high] = std::ranges::minmax(ratios_);
  if (low >= 1 - kLeastEffect && high <= 1 + kLeastEffect) return true;
  return ratios_.size() > kFewestOfLong && low < 1 && high > 1 &&
         std::fabs(median_of(ratios_) - 1) <= kLeastEffect;
}

void PairSamples::summarize_into(PairResult& result, double z) const {
  std::vector<double> ratios = ratios_;
  std::sort(ratios.begin(), ratios.end());
  result.ratio = quantile(ratios, 0.5);
  result.interval = median_interval(ratios, z);
  result.first_us = median_of(first_us_);
  result.second_us = median_of(second_us_);
  result.pairs = static_cast<int>(ratios.size());
}

PairComparison::PairComparison(const Stopwatch::Setup& setup, const LoadedKernel& first,
                               const LoadedKernel& second, const Shape& shape,
                               const Progress& progress)
    : first_(setup, first, shape),
      second_(setup, second, shape),
      shape_(shape),
      progress_(progress),
      length_(length_of(first_, second_)),
      block_(std::min(first_.budget().pairs(), second_.budget().pairs())),
      random_(setup.cases.inputs(shape, 0).seed),
      samples_(length_) {
  // Chooses the number of pairs before the only verification between pairs: 1 for very long
  // launches, because the second pair may be the last, else a random number.
  if (length_ == LaunchLength::kVeryLong) {
    block_ = std::min(block_, PairSamples::kMostOfVeryLong);
    within_ = {1, Stopwatch::Doubt::kFreshInputs};
  } else if (are_long()) {
    within_ = {1 + random_.below(PairSamples::kFewestOfLong - 1), Stopwatch::Doubt::kFreshInputs};
  } else {
    within_ = {1 + random_.below(block_), Stopwatch::Doubt::kPoison};
  }
}

PairResult PairComparison::run() {
  // Kernels with long launches need no warm-up, because the launches that estimated their time have
  // warmed them up.
  if (!are_long()) {
    first_.warm_up();
    second_.warm_up();
  }
  add_long_launches();
  // A small difference between very long launches does not justify several seconds of timing, so
  // only the first block_ pairs are taken.
  const std::size_t most_blocks = !are_long() ? 4 : first_.is_very_long() ? 1 : 2;
  for (std::size_t block = 1; block <= most_blocks && !is_over(); ++block) {
    take_pairs(block * block_);
    if (is_over()) break;
    samples_.summarize_into(result_, block == 1 ? kPairZ : kLaterPairZ);
    if (is_plain()) break;
    // Takes more pairs only if the median ratio shows a difference that the interval does not
    // prove.
    if (result_.verdict() != 0 || std::fabs(result_.ratio - 1) <= kLeastEffect) break;
  }
  verify_within();
  if (!are_long()) verify(Stopwatch::Doubt::kFreshInputs);
  if (has_failed_ || !is_over()) return std::move(result_);
  const Fault& fault = first_.fault() ? *first_.fault() : *second_.fault();
  result_.rejection = fault_in_timing(fault);
  result_.failed_first = first_.fault().has_value();
  result_.device_lost = fault.device_lost;
  return std::move(result_);
}

bool PairComparison::is_plain() const {
  return samples_.is_plain() || (are_long() && samples_.is_plain_tie());
}

void PairComparison::take_pairs(std::size_t count) {
  const std::size_t tell_every = samples_between_signs(first_.sample_us() + second_.sample_us());
  while (samples_.size() < count && !is_over() && !is_plain()) {
    if (samples_.size() % tell_every == 0)
      progress_("comparing two kernels on shape " + shape_.name);
    if (within_ && samples_.size() >= within_->first) {
      verify_within();
    } else {
      take_pair();
    }
  }
}

void PairComparison::take_pair() {
  const bool first_leads = samples_.size() % 2 == 0;
  const double early = first_leads ? first_.sample() : second_.sample();
  const double late = first_leads ? second_.sample() : first_.sample();
  if (!is_over()) samples_.add(first_leads ? early : late, first_leads ? late : early);
}

void PairComparison::add_long_launches() {
  const std::vector<double> first_us = first_.take_other_us();
  const std::vector<double> second_us = second_.take_other_us();
  if (!are_long() || is_over() || first_us.size() != second_us.size()) return;
  for (std::size_t i = 0; i < first_us.size(); ++i) samples_.add(first_us[i], second_us[i]);
}

void PairComparison::verify_within() {
  if (!within_) return;
  const Stopwatch::Doubt doubt = within_->second;
  within_.reset();
  verify(doubt);
}

void PairComparison::verify(Stopwatch::Doubt doubt) {
  std::array<Stopwatch*, 2> sides = {&first_, &second_};
  if (samples_.size() % 2 != 0) std::ranges::reverse(sides);
  for (Stopwatch* side : sides) {
    if (is_over()) return;
    result_.rejection = side->verify(doubt, random_);
    has_failed_ = result_.rejection.has_value();
    result_.failed_first = has_failed_ && side == &first_;
    if (has_failed_)
      (void)side->find_forbidden_write();  // repairs the violation for the next kernel
  }
  add_long_launches();
}

}  // namespace evo
