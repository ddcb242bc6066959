#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/device/gpu_monitor.hpp"

namespace evo {

/// Monitors the GPU while kernels are timed, and decides which samples are valid.
///
///   1. begin() records the SM clock, usually after the kernel's warm-up.
///   2. After a batch of samples for which is_due() returns true, accepts() queries the GPU. The
///      GPU counts as throttled if the driver reports a slowdown that distorts times, or if the SM
///      clock is below kLeastShareOfClock times the recorded clock. accepts() then pauses, so that
///      the GPU recovers, and the caller repeats the batch.
///   3. If the GPU has not recovered after kMostRefusals tries, the samples are kept, and state()
///      reports that the GPU was throttled. The next kernel then gets one try only, and so on
///      until a kernel was timed without throttling.
///
/// A query of the GPU takes microseconds with some drivers and milliseconds with others. is_due()
/// spaces the queries so that they take at most a twentieth of the timing.
class GpuWatch {
 public:
  using Pause = std::function<void(std::chrono::milliseconds)>;

  /// Samples are discarded if the SM clock is below the initial clock times this factor, as in
  /// nvbench (--throttle-threshold).
  static constexpr double kLeastShareOfClock = 0.75;
  static constexpr int kMostRefusals = 5;
  /// Duration of a pause in which a throttled GPU recovers, as in nvbench
  /// (--throttle-recovery-delay).
  static constexpr std::chrono::milliseconds kRecovery{50};

  /// `monitor`: must outlive this object; null for a device without a monitor, which never counts
  /// as throttled. `pause`: the function that waits; by default, the thread sleeps.
  explicit GpuWatch(GpuMonitor* monitor, Pause pause = {});

  /// Call look_for_others() before the first launch. If the driver lists no other process on the
  /// GPU (some drivers cannot list processes), measures how busy other processes keep the GPU;
  /// state() reports this if it is above 5 %. Waits up to 1.2 s for the GPU to become idle,
  /// because the driver reports the average utilization over the recent past.
  void look_for_others();

  /// Begins the timing of a kernel. Call begin() after the kernel's warm-up, if there is one.
  void begin();
  /// Whether the GPU should be queried after samples that took `us` µs in total.
  [[nodiscard]] bool is_due(double us) const;
  /// Queries the GPU. Returns whether the `samples` samples since the last query are valid.
  [[nodiscard]] bool accepts(std::size_t samples);
  /// The GPU's state since begin(); nullopt without a monitor or a query since begin().
  [[nodiscard]] std::optional<GpuState> state();

 private:
  using Clock = std::chrono::steady_clock;

  [[nodiscard]] GpuPace look();
  [[nodiscard]] bool was_throttled(const GpuPace& pace) const;
  /// Queries the memory clock, temperature, power and other processes of the GPU, unless the last
  /// of these queries was less than 250 ms ago.
  void look_around();

  GpuMonitor* monitor_;
  Pause pause_;
  /// duration of the shortest query, because longer queries include delays by other processes
  std::optional<double> look_us_;
  int refusals_left_ = 0;  ///< remaining repetitions for the current kernel
  int refusals_allowed_ = kMostRefusals;
  std::optional<double> first_clock_mhz_;
  std::vector<double> clocks_mhz_;
  GpuState state_;
  GpuCondition condition_;
  std::vector<std::string> others_;
  std::optional<double> busy_before_percent_;
  std::optional<Clock::time_point> looked_around_;
};

}  // namespace evo
