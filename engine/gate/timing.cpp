#include "engine/gate/timing.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace evo {
namespace {

/// 99.7 % two-sided, so that samples that are not quite independent still keep the promise of at
/// most 1 % false verdicts.
constexpr double kPairZ = 3.0;
/// A difference below this is called a tie however certain it is.
constexpr double kLeastEffect = 0.002;

Rejection failed(const Fault& fault) { return {Gate::kTiming, fault.reason, fault.detail}; }

std::string microseconds(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f µs", value);
  return text;
}

}  // namespace

int PairResult::verdict() const {
  if (interval.high < 1 - kLeastEffect) return -1;
  if (interval.low > 1 + kLeastEffect) return 1;
  return 0;
}

double floor_us(const DeviceInfo& device, double flops, double bytes) {
  double floor = device.peak_tflops > 0 ? flops / device.peak_tflops / 1e6 : 0;
  if (bytes > static_cast<double>(device.l2_bytes) && device.peak_bandwidth_gbs > 0) {
    floor = std::max(floor, bytes / device.peak_bandwidth_gbs / 1e3);
  }
  return floor;
}

/// A kernel's graph, ready to be sampled.
class TimingGate::Stopwatch {
 public:
  Stopwatch(TimingGate& gate, const LoadedKernel& kernel, const Shape& shape)
      : gate_(gate),
        config_(kernel.launch_for(gate.cases_.inputs(shape, 0))),
        workspace_(gate.device_, gate.problem_, kernel, gate.cases_.inputs(shape, 0)) {
    for (std::size_t i = 0; i < gate.options_.input_sets; ++i) {
      sets_.push_back(workspace_.arguments_of(gate.cases_.inputs(shape, i)));
    }
    if (!build(kernel, 1)) return;
    double once_us = sample();
    for (int i = 0; i < 2 && !fault_; ++i) once_us = std::min(once_us, sample());
    if (fault_ || gate.options_.cold) return;
    const double wanted = std::ceil(gate.options_.sample_us / std::max(once_us, 0.1));
    constexpr double kMostLaunches = 400;
    gate.device_.release_graph(graph_);
    has_graph_ = false;
    (void)build(kernel, static_cast<int>(std::clamp(wanted, 1.0, kMostLaunches)));
  }
  ~Stopwatch() {
    if (has_graph_ && !(fault_ && fault_->device_lost)) gate_.device_.release_graph(graph_);
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

  /// Microseconds of one launch: the mean of a graph of them. 0 after a fault.
  double sample() {
    if (fault_) return 0;
    if (gate_.options_.cold) gate_.device_.flush_l2();
    const auto ran = gate_.device_.run_graph(graph_);
    if (const auto* fault = std::get_if<Fault>(&ran)) {
      fault_ = *fault;
      return 0;
    }
    return std::get<double>(ran) / launches_;
  }

  void warm_up() {
    for (int done = 0; done < gate_.options_.warmups && !fault_; done += launches_) sample();
  }

  [[nodiscard]] const std::optional<Fault>& fault() const { return fault_; }

 private:
  bool build(const LoadedKernel& kernel, int launches) {
    const auto made = gate_.device_.make_graph(kernel.id, config_, sets_, launches);
    launches_ = launches;
    if (const auto* fault = std::get_if<Fault>(&made)) {
      fault_ = *fault;
      return false;
    }
    graph_ = std::get<GraphId>(made);
    has_graph_ = true;
    return true;
  }

  TimingGate& gate_;
  LaunchConfig config_;
  Workspace workspace_;
  std::vector<std::vector<KernelArgument>> sets_;
  GraphId graph_ = 0;
  int launches_ = 1;
  bool has_graph_ = false;
  std::optional<Fault> fault_;
};

TimingResult TimingGate::time(const LoadedKernel& kernel, const Shape& shape,
                              const Progress& progress) {
  TimingResult result = device_.info().time_kind == TimeKind::kPredicted
                            ? predict(kernel, shape)
                            : measure(kernel, shape, progress);
  if (result.timing && !result.rejection) result.rejection = too_fast(*result.timing, shape);
  return result;
}

TimingResult TimingGate::predict(const LoadedKernel& kernel, const Shape& shape) {
  const CheckCase& data = cases_.inputs(shape, 0);
  const Workspace workspace(device_, problem_, kernel, data);
  const auto predicted =
      device_.predict_us(kernel.id, kernel.launch_for(data), workspace.arguments_of(data));
  TimingResult result;
  if (const auto* fault = std::get_if<Fault>(&predicted)) {
    result.rejection = failed(*fault);
    result.device_lost = fault->device_lost;
  } else {
    result.timing = summarize({std::get<double>(predicted)}, TimeKind::kPredicted);
  }
  return result;
}

TimingResult TimingGate::measure(const LoadedKernel& kernel, const Shape& shape,
                                 const Progress& progress) {
  progress("timing shape " + shape.name);
  Stopwatch stopwatch(*this, kernel, shape);
  stopwatch.warm_up();
  StoppingRule rule(options_.stopping);
  while (!stopwatch.fault() && !rule.is_finished()) {
    const double sample_us = stopwatch.sample();
    if (!stopwatch.fault()) rule.add_measurement(sample_us);
    constexpr std::size_t kTellEvery = 50;
    if (rule.samples_us().size() % kTellEvery == 0) progress("timing shape " + shape.name);
  }
  TimingResult result;
  if (stopwatch.fault()) {
    result.rejection = failed(*stopwatch.fault());
    result.device_lost = stopwatch.fault()->device_lost;
    return result;
  }
  result.timing = summarize(rule.samples_us(), TimeKind::kMeasured);
  result.timing->complete = !rule.gave_up();
  return result;
}

std::optional<Rejection> TimingGate::too_fast(const Timing& timing, const Shape& shape) const {
  const double floor = floor_us(device_.info(), problem_.flops.evaluate(shape.variables),
                                problem_.bytes.evaluate(shape.variables));
  if (timing.p50_us >= floor) return std::nullopt;
  return Rejection{Gate::kTiming, "faster than the device can be: p50 " +
                                      microseconds(timing.p50_us) + " is below the floor of " +
                                      microseconds(floor) +
                                      "; the kernel does not do the work, or the clock lies"};
}

PairResult TimingGate::compare_pair(const LoadedKernel& first, const LoadedKernel& second,
                                    const Shape& shape, const Progress& progress) {
  constexpr std::size_t kPairs = 60;
  progress("confirming on shape " + shape.name);
  Stopwatch a(*this, first, shape);
  Stopwatch b(*this, second, shape);
  a.warm_up();
  b.warm_up();
  std::vector<double> ratios;
  std::vector<double> first_us;
  std::vector<double> second_us;
  for (std::size_t i = 0; i < kPairs && !a.fault() && !b.fault(); ++i) {
    const bool first_leads = i % 2 == 0;
    const double early = first_leads ? a.sample() : b.sample();
    const double late = first_leads ? b.sample() : a.sample();
    if (a.fault() || b.fault()) break;
    first_us.push_back(first_leads ? early : late);
    second_us.push_back(first_leads ? late : early);
    ratios.push_back(first_us.back() / second_us.back());
  }
  PairResult result;
  if (a.fault() || b.fault()) {
    const Fault& fault = a.fault() ? *a.fault() : *b.fault();
    result.rejection = failed(fault);
    result.failed_first = a.fault().has_value();
    result.device_lost = fault.device_lost;
    return result;
  }
  std::sort(ratios.begin(), ratios.end());
  std::sort(first_us.begin(), first_us.end());
  std::sort(second_us.begin(), second_us.end());
  result.ratio = quantile(ratios, 0.5);
  result.interval = median_interval(ratios, kPairZ);
  result.first_us = quantile(first_us, 0.5);
  result.second_us = quantile(second_us, 0.5);
  result.pairs = static_cast<int>(ratios.size());
  return result;
}

}  // namespace evo
