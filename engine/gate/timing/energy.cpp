#include "engine/gate/timing/energy.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "engine/device/gpu_monitor.hpp"

namespace evo {
namespace {

/// Time of a CUDA graph in µs. The graphs are longer than in the timing gate, so that the GPU
/// idles less between graphs.
constexpr double kEnergySampleUs = 2000;
/// Fast readings of the energy counter take at most 1 / kReadingShare of the time, because the GPU
/// idles while the counter is read. Slow readings take more of the time, because readings are about
/// kMostBetweenReadings_s apart at most.
constexpr double kReadingShare = 50;
constexpr double kMostBetweenReadings_s = 0.02;

std::string why_not(const DeviceInfo& device, const GpuMonitor* monitor) {
  if (device.time_kind == TimeKind::kPredicted) {
    return "energy is not supported on " + device.name +
           ": the device predicts times and measures nothing";
  }
  if (monitor == nullptr) {
    return "energy is not supported on " + device.name +
           ": the driver's library NVML (libnvidia-ml.so.1) does not report the energy";
  }
  return "energy is not supported on " + device.name +
         ": the GPU has no energy counter (GPUs before Volta, and some virtual ones, have none)";
}

}  // namespace

EnergyResult measure_energy(const Stopwatch::Setup& setup, const LoadedKernel& kernel,
                            const Shape& shape, GpuMonitor* monitor, const EnergyOptions& options,
                            const Progress& progress, const std::function<double()>& now_s) {
  EnergyResult result;
  const DeviceInfo& device = setup.work.device().info();
  if (monitor == nullptr || !monitor->energy_mj()) {
    result.not_supported = why_not(device, monitor);
    return result;
  }
  TimingOptions timing = setup.options;
  timing.sample_us = kEnergySampleUs;
  timing.cold = false;
  Stopwatch stopwatch(
      {setup.work, setup.problem, setup.cases, setup.judge, timing, setup.fresh_case}, kernel,
      shape);
  EnergyWindow window(options);
  const std::int64_t launched_before = stopwatch.launches();
  double between_s = kEnergySampleUs / 1e6;
  while (!stopwatch.fault() && !window.is_finished() && !window.stands_still()) {
    progress("counting energy on shape " + shape.name);
    const double start_s = now_s();
    const std::optional<double> counter_mj = monitor->energy_mj();
    const double read_s = now_s();
    if (!counter_mj) break;
    window.add(read_s, *counter_mj, stopwatch.launches() - launched_before);
    between_s = std::clamp(kReadingShare * (read_s - start_s), between_s, kMostBetweenReadings_s);
    do {
      (void)stopwatch.sample();
    } while (!stopwatch.fault() && now_s() - read_s < between_s);
  }
  if (stopwatch.fault()) {
    result.rejection =
        Rejection{Gate::kTiming, stopwatch.fault()->reason, stopwatch.fault()->detail};
    result.device_lost = stopwatch.fault()->device_lost;
    return result;
  }
  result.energy = window.energy();
  if (!result.energy) {
    result.not_supported = "energy is not supported on " + device.name +
                           ": its energy counter does not change under load";
  }
  return result;
}

}  // namespace evo
