#include "engine/gate/timing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <utility>

#include "engine/core/random.hpp"

namespace evo {
namespace {

/// Samples after which the launches that are timed are verified, and how: times that no kernel
/// knows. Of long launches, which are verified as they are timed, the first two; and one of those
/// that follow. The first of very long ones is that which planned the measuring: it met a poison.
std::map<std::size_t, Stopwatch::Doubt> doubts_of(const Stopwatch& stopwatch,
                                                  std::size_t least_samples, Random& random) {
  using Doubt = Stopwatch::Doubt;
  if (stopwatch.is_long()) {
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

std::string microseconds(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f µs", value);
  return text;
}

}  // namespace

double floor_us(const DeviceInfo& device, double flops, double bytes) {
  double floor = device.peak_tflops > 0 ? flops / device.peak_tflops / 1e6 : 0;
  if (bytes > static_cast<double>(device.l2_bytes) && device.peak_bandwidth_gbs > 0) {
    floor = std::max(floor, bytes / device.peak_bandwidth_gbs / 1e3);
  }
  return floor;
}

TimingResult TimingGate::time(const LoadedKernel& kernel, const Shape& shape,
                              const Progress& progress) {
  TimingResult result = device_.info().time_kind == TimeKind::kPredicted
                            ? predict(kernel, shape)
                            : measure(kernel, shape, progress);
  if (result.timing && !result.rejection) result.rejection = too_fast(*result.timing, shape);
  return result;
}

TimingResult TimingGate::predict(const LoadedKernel& kernel, const Shape& shape) {
  // Data that it has not met: what it may remember of others is of no use.
  const CheckCase& data = cases_.inputs(shape, fresh_case_);
  const auto made = Workspace::make(device_, problem_, kernel, data);
  TimingResult result;
  if (const auto* fault = std::get_if<Fault>(&made)) {
    result.rejection = fault_in_timing(*fault);
    return result;
  }
  const auto predicted = device_.predict_us(kernel.id, kernel.launch_for(data),
                                            std::get<Workspace>(made).arguments_of(data));
  if (const auto* fault = std::get_if<Fault>(&predicted)) {
    result.rejection = fault_in_timing(*fault);
    result.device_lost = fault->device_lost;
  } else {
    result.timing = summarize({std::get<double>(predicted)}, TimeKind::kPredicted);
  }
  return result;
}

/// As many samples as the time of a launch allows.
StoppingOptions TimingGate::stopping_for(const Stopwatch& stopwatch) const {
  // Clocks that rise when work begins settle within this; where they have, what another process
  // does for a moment is to be outlasted.
  const double settled_us = options_.is_settled ? 2000 : 4000;
  constexpr std::size_t kSamplesToBeSure = 5;  // of fewer, chance alone may lie on one side
  StoppingOptions stopping = options_.stopping;
  stopping.least_samples = stopwatch.budget().least_samples();
  stopping.most_samples = stopwatch.budget().most_samples();
  stopping.samples_to_be_sure =
      std::clamp(static_cast<std::size_t>(settled_us / std::max(stopwatch.sample_us(), 1.0)),
                 kSamplesToBeSure, std::max(kSamplesToBeSure, stopping.samples_to_be_sure));
  // Long launches of one kernel differ by a few percent.
  if (stopwatch.is_long()) stopping.hopeless = {{.samples = 3, .times = 1.05}};
  if (stopwatch.is_very_long()) stopping.hopeless.push_back({.samples = 2, .times = 1.2});
  return stopping;
}

TimingResult TimingGate::measure(const LoadedKernel& kernel, const Shape& shape,
                                 const Progress& progress) {
  using Doubt = Stopwatch::Doubt;
  progress("timing shape " + shape.name);
  Stopwatch stopwatch(setup(), kernel, shape);
  stopwatch.warm_up();
  Random random(cases_.inputs(shape, 0).seed);
  const StoppingOptions stopping = stopping_for(stopwatch);
  std::map<std::size_t, Doubt> doubts = doubts_of(stopwatch, stopping.least_samples, random);
  StoppingRule rule(stopping);
  const auto add_others = [&] {
    for (const double us : stopwatch.take_other_us()) rule.add_measurement(us);
  };
  add_others();
  const std::size_t tell_every = samples_between_signs(stopwatch.sample_us());
  TimingResult result;
  const auto doubt = [&](Doubt what) {
    if (result.rejection) return;
    progress("verifying timed launches of shape " + shape.name);
    result.rejection = stopwatch.verify(what, random);
  };
  card_.begin();
  StoppingRule counted = rule;  // up to the last look at the card
  double since_look_us = 0;
  const auto look_at_card = [&] {
    const std::size_t samples = rule.samples_us().size() - counted.samples_us().size();
    since_look_us = 0;
    if (!card_.accepts(samples)) {
      rule = counted;
      return false;
    }
    counted = rule;
    return true;
  };
  // 1. Samples, between two of them a doubt, and looks at the card, the last one at the end.
  while (!stopwatch.fault() && !result.rejection) {
    if (rule.is_finished()) {
      if (rule.samples_us().size() == counted.samples_us().size() || look_at_card()) break;
      progress("timing shape " + shape.name + " again: the card was throttled");
      continue;
    }
    if (card_.is_due(since_look_us)) (void)look_at_card();
    if (!doubts.empty() && rule.samples_us().size() >= doubts.begin()->first) {
      doubt(doubts.begin()->second);
      doubts.erase(doubts.begin());
      add_others();
      // Caches are as before when the next short one counts.
      if (!stopwatch.is_long()) stopwatch.sample();
      continue;
    }
    const double sample_us = stopwatch.sample();
    if (!stopwatch.fault()) rule.add_measurement(sample_us);
    since_look_us += stopwatch.sample_us();
    if (rule.samples_us().size() % tell_every == 0) progress("timing shape " + shape.name);
  }
  // 2. At the end: those that did not have their turn, what the samples left, new buffers. Of long
  // launches that were given up, two doubts are enough.
  const bool is_enough = stopwatch.is_long() && rule.gave_up() && doubts.size() <= 1;
  if (!is_enough) {
    for (const auto& [when, what] : doubts) doubt(what);
    doubt(Doubt::kNothing);
    doubt(Doubt::kFreshAddresses);
  }
  if (!result.rejection && !rule.gave_up()) result.rejection = stopwatch.verify_pace();
  if (!result.rejection) result.rejection = stopwatch.find_damage(random);
  result.launches = stopwatch.launches();
  if (stopwatch.fault()) {
    result.rejection = fault_in_timing(*stopwatch.fault());
    result.device_lost = stopwatch.fault()->device_lost;
    return result;
  }
  if (rule.samples_us().empty()) return result;
  result.timing = summarize(rule.samples_us(), TimeKind::kMeasured);
  result.timing->complete = !rule.gave_up();
  result.card = card_.state();
  return result;
}

std::optional<Rejection> TimingGate::too_fast(const Timing& timing, const Shape& shape) const {
  const double floor = floor_us(device_.info(), problem_.flops.evaluate(shape.variables),
                                problem_.bytes.evaluate(shape.variables));
  if (timing.p50_us >= floor) return std::nullopt;
  return Rejection{
      Gate::kTiming,
      fmt::format(
          "faster than the device can be: p50 {} is below the floor of {} that \"flops\" and "
          "\"bytes\" of the problem set; the kernel does not do the work, the clock lies, or "
          "a launch needs less than they say",
          microseconds(timing.p50_us), microseconds(floor))};
}

PairResult TimingGate::compare_pair(const LoadedKernel& first, const LoadedKernel& second,
                                    const Shape& shape, const Progress& progress) {
  return PairComparison(setup(), first, second, shape, progress).run();
}

}  // namespace evo
