#include "engine/gate/timing/timing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

namespace evo {
namespace {

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
                            : Measurement(setup(), gpu_, kernel, shape, progress).run();
  if (result.timing && !result.rejection) result.rejection = too_fast(*result.timing, shape);
  return result;
}

TimingResult TimingGate::predict(const LoadedKernel& kernel, const Shape& shape) {
  // Uses data on which the kernel was not launched before, because the kernel may have cached
  // results.
  const CheckCase& data = cases_.inputs(shape, fresh_case_);
  const auto made = Workspace::make(device_, problem_, kernel, data);
  TimingResult result;
  if (const auto* fault = std::get_if<Fault>(&made)) {
    result.rejection = fault_in_timing(*fault);
    return result;
  }
  Predicting& predicting = evo::predicting(device_);
  const auto predicted = predicting.predict_us(kernel.id, kernel.launch_for(data),
                                               std::get<Workspace>(made).arguments_of(data));
  if (const auto* fault = std::get_if<Fault>(&predicted)) {
    result.rejection = fault_in_timing(*fault);
    result.device_lost = fault->device_lost;
  } else {
    result.timing = summarize({std::get<double>(predicted)}, TimeKind::kPredicted);
    result.timing->not_modelled = predicting.prediction_gaps();
  }
  return result;
}

std::optional<Rejection> TimingGate::too_fast(const Timing& timing, const Shape& shape) const {
  const double floor = floor_us(device_.info(), problem_.flops.evaluate(shape.variables),
                                problem_.bytes.evaluate(shape.variables));
  if (timing.p50_us >= floor) return std::nullopt;
  return Rejection{
      Gate::kTiming,
      fmt::format(
          "below the roofline bound: p50 {} is less than {}, which follows from \"flops\" and "
          "\"bytes\" of the problem; the kernel does not do the work, the clock is wrong, or "
          "these numbers are too high",
          microseconds(timing.p50_us), microseconds(floor))};
}

PairResult TimingGate::compare_pair(const LoadedKernel& first, const LoadedKernel& second,
                                    const Shape& shape, const Progress& progress) {
  return PairComparison(setup(), first, second, shape, progress).run();
}

}  // namespace evo
