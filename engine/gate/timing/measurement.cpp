#include "engine/gate/timing/measurement.hpp"

#include <algorithm>
#include <utility>

namespace evo {
namespace {

using Doubt = Stopwatch::Doubt;

/// A kernel whose launches take at least 1 ms is certainly too slow if two launches exceed the
/// early-stop limit by this factor.
constexpr StoppingOptions::EarlyStopLook kFar = {.samples = 2, .times = 1.2};

/// A kernel with shorter launches on a busy device is certainly too slow if six samples exceed the
/// early-stop limit by this factor. Launches below kNearUs (in µs) are always warmed up, because
/// skipping the warm-up would save too little time.
constexpr StoppingOptions::EarlyStopLook kNear = {.samples = 6, .times = 1.06};
constexpr double kNearUs = 50;

/// The criterion by which timing may stop early before the warm-up; nullopt if a warm-up costs
/// little, or if samples without a warm-up would mislead.
std::optional<StoppingOptions::EarlyStopLook> early_look(const Stopwatch& stopwatch,
                                                         const TimingOptions& options) {
  if (stopwatch.is_very_long() || options.cold) return std::nullopt;
  if (stopwatch.is_long()) return kFar;
  // The limit 0 requests a coarse time of any kernel (HomeDevice::time_again), which needs a
  // warm-up.
  const bool may_be_slow = options.stopping.early_stop_us > 0;
  if (may_be_slow && options.is_busy && stopwatch.launch_us() >= kNearUs) return kNear;
  return std::nullopt;
}

/// Adapts the numbers of samples to the launch time. `is_settled`: the kernel has kept the device
/// busy for a while.
StoppingOptions stopping_for(const Stopwatch& stopwatch, const TimingOptions& options,
                             bool is_settled) {
  // Time in µs before the median is compared with the early-stop limit, because the clocks of an
  // idle device rise at first, and because another process may disturb a few samples.
  const double settled_us = is_settled ? 2000 : 4000;
  // With fewer than this number of samples, all samples may exceed the true median by chance.
  constexpr std::size_t kSamplesToBeSure = 5;
  StoppingOptions stopping = options.stopping;
  stopping.least_samples = stopwatch.budget().least_samples();
  stopping.most_samples = stopwatch.budget().most_samples();
  stopping.samples_to_be_sure =
      std::clamp(static_cast<std::size_t>(settled_us / std::max(stopwatch.sample_us(), 1.0)),
                 kSamplesToBeSure, std::max(kSamplesToBeSure, stopping.samples_to_be_sure));
  // The times of a kernel's long launches differ by a few percent only, so few samples are needed.
  if (stopwatch.is_long()) stopping.early_stop = {{.samples = 3, .times = 1.05}, kFar};
  const auto early = early_look(stopwatch, options);
  if (early && !stopwatch.is_long()) stopping.early_stop.push_back(*early);
  return stopping;
}

/// Whether each sample of the last tenth is far slower than the median of all samples, for example
/// because the kernel counts its launches or another process uses the device.
bool became_slower(const std::vector<double>& samples_us) {
  constexpr std::size_t kFewest = 20;
  constexpr std::size_t kShareOfLast = 10;
  constexpr double kMostRatio = 1.5;
  if (samples_us.size() < kFewest) return false;
  const auto last =
      samples_us.end() - static_cast<std::ptrdiff_t>(samples_us.size() / kShareOfLast);
  const double median_us = summarize(samples_us, TimeKind::kMeasured).p50_us;
  return *std::min_element(last, samples_us.end()) > kMostRatio * median_us;
}

/// The numbers of samples after which timed launches are verified, and the kind of verification. If
/// launches are long, the verified launches are samples, too: the first two launches and one later
/// launch. If launches are very long, the first launch, which determines the number of samples, has
/// already run over a poison. If instead a launch of the correctness check has determined the
/// number of samples, this launch was verified and is the first sample, and the next two launches
/// are verified.
std::map<std::size_t, Doubt> doubts_of(const Stopwatch& stopwatch, std::size_t least_samples,
                                       Random& random) {
  if (stopwatch.is_long()) {
    if (stopwatch.was_planned_by_check()) {
      return {{1, Doubt::kFreshInputs}, {2, Doubt::kFreshAddresses}};
    }
    const bool poison_first = random.below(2) == 0;
    const std::size_t later = 2 + random.below(std::max<std::size_t>(least_samples, 3) - 2);
    if (stopwatch.is_very_long()) {
      return {{0, Doubt::kNothing}, {1, Doubt::kFreshInputs}, {later, Doubt::kPoison}};
    }
    return {{0, poison_first ? Doubt::kPoison : Doubt::kFreshInputs},
            {1, poison_first ? Doubt::kFreshInputs : Doubt::kPoison},
            {later, Doubt::kPoison}};
  }
  const std::size_t half = std::max<std::size_t>(least_samples / 2, 1);
  const std::size_t early = 1 + random.below(half);
  return {{early, Doubt::kPoison}, {1 + half + random.below(half), Doubt::kFreshInputs}};
}

}  // namespace

Measurement::Measurement(const Stopwatch::Setup& setup, GpuWatch& gpu, const LoadedKernel& kernel,
                         const Shape& shape, const Progress& progress)
    : options_(setup.options),
      shape_(shape),
      progress_(progress),
      gpu_(gpu),
      stopwatch_(setup, kernel, shape),
      random_(setup.cases.inputs(shape, 0).seed),
      stopping_(stopping_for(stopwatch_, options_, options_.is_settled)),
      rule_(stopping_),
      counted_(stopping_),
      early_(early_look(stopwatch_, options_)),
      doubts_(doubts_of(stopwatch_, stopping_.least_samples, random_)) {}

TimingResult Measurement::run() {
  progress_("timing shape " + shape_.name);
  is_warm_ = !stops_early();
  if (is_warm_) stopwatch_.warm_up();
  add_others();
  counted_ = rule_;
  gpu_.begin();
  take_samples();
  doubt_at_the_end();
  if (!result_.rejection && !rule_.stopped_early()) result_.rejection = stopwatch_.verify_pace();
  // Searches for overwritten guard zones and inputs even after a wrong result, because violation
  // that remains would be blamed on the next kernel.
  std::optional<Rejection> violation = stopwatch_.find_forbidden_write();
  if (!result_.rejection) result_.rejection = std::move(violation);
  if (stopwatch_.fault()) {
    result_.rejection = fault_in_timing(*stopwatch_.fault());
    result_.device_lost = stopwatch_.fault()->device_lost;
    return std::move(result_);
  }
  if (rule_.samples_us().empty()) return std::move(result_);
  result_.timing = summarize(rule_.samples_us(), TimeKind::kMeasured);
  result_.timing->complete = !rule_.stopped_early();
  result_.gpu = gpu_.state();
  return std::move(result_);
}

void Measurement::take_samples() {
  while (!is_over()) {
    if (rule_.is_finished()) {
      if (rule_.samples_us().size() != counted_.samples_us().size() && !look_at_gpu()) {
        progress_("timing shape " + shape_.name + " again, because the GPU was throttled");
        continue;
      }
      if (is_taken_again_ || rule_.stopped_early() || !became_slower(rule_.samples_us())) return;
      progress_("timing shape " + shape_.name + " again, because its launches became slower");
      is_taken_again_ = true;
      rule_ = StoppingRule(stopping_);
      counted_ = rule_;
      continue;
    }
    if (gpu_.is_due(since_look_us_)) (void)look_at_gpu();
    if (!is_warm_ && rule_.samples_us().size() >= early_->samples) {
      warm_up_after_all();
    } else if (!doubts_.empty() && rule_.samples_us().size() >= doubts_.begin()->first) {
      doubt_in_turn();
    } else {
      take_sample();
    }
  }
}

void Measurement::take_sample() {
  const double sample_us = stopwatch_.sample();
  if (!stopwatch_.fault()) rule_.add_measurement(sample_us);
  since_look_us_ += stopwatch_.sample_us();
  const std::size_t tell_every = samples_between_signs(stopwatch_.sample_us());
  if (rule_.samples_us().size() % tell_every == 0) progress_("timing shape " + shape_.name);
}

bool Measurement::stops_early() const {
  return early_ && stopwatch_.launch_us() > early_->times * stopping_.early_stop_us;
}

void Measurement::warm_up_after_all() {
  is_warm_ = true;
  stopwatch_.warm_up();
  stopping_ = stopping_for(stopwatch_, options_, true);
  rule_ = StoppingRule(stopping_);
  counted_ = rule_;
}

void Measurement::doubt(Doubt what) {
  if (result_.rejection) return;
  progress_("verifying timed launches of shape " + shape_.name);
  result_.rejection = stopwatch_.verify(what, random_);
}

void Measurement::doubt_in_turn() {
  doubt(doubts_.begin()->second);
  doubts_.erase(doubts_.begin());
  add_others();
  // Discards a sample, because the times of short launches depend on the caches, which the
  // verification changed.
  if (!stopwatch_.is_long()) stopwatch_.sample();
}

/// Runs the remaining verifications, checks the outputs of the last samples, then repeats a launch
/// in newly allocated buffers. If timing stopped early, the kernel cannot enter the elite, so fewer
/// verifications are enough: two of long launches, or one of short launches over a poison.
void Measurement::doubt_at_the_end() {
  if (stopwatch_.is_long() && rule_.stopped_early() && doubts_.size() <= 1) return;
  if (!stopwatch_.is_long() && rule_.stopped_early()) {
    const bool has_met_poison =
        std::ranges::none_of(doubts_, [](const auto& one) { return one.second == Doubt::kPoison; });
    if (!has_met_poison) doubt(Doubt::kPoison);
    return;
  }
  for (const auto& [when, what] : doubts_) doubt(what);
  if (!stopwatch_.was_planned_by_check()) {
    doubt(Doubt::kNothing);
    doubt(Doubt::kFreshAddresses);
  } else if (stopwatch_.has_results()) {
    doubt(Doubt::kNothing);  // verifies the remaining launches
  }
}

void Measurement::add_others() {
  for (const double us : stopwatch_.take_other_us()) rule_.add_measurement(us);
}

bool Measurement::look_at_gpu() {
  const std::size_t samples = rule_.samples_us().size() - counted_.samples_us().size();
  since_look_us_ = 0;
  if (!gpu_.accepts(samples)) {
    rule_ = counted_;
    return false;
  }
  counted_ = rule_;
  return true;
}

}  // namespace evo
