#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/device/device.hpp"
#include "engine/gate/correctness/correctness.hpp"
#include "engine/gate/timing/energy.hpp"
#include "engine/gate/timing/timing.hpp"

namespace evo {

/// The data that a device worker receives before the first kernel, and again if they change.
struct SessionSetup {
  std::string problem_text;
  std::string problem_folder;
  std::string template_name;
  KernelImage reference;      ///< no entries: no reference kernel is launched
  Values reference_macros;    ///< macros of the reference's configuration
  KernelImage check_kernels;  ///< of check_kernels.cu; no entries: the CPU compares outputs
  std::uint64_t check_seed = 0;
  CorrectnessOptions correctness;
  TimingOptions timing;
};

/// A kernel that a device worker checks or times, as sent by the coordinator.
struct KernelUnderTest {
  std::string key;  ///< identifies the image, so that it is loaded once
  KernelImage image;
  Values macros;
  std::vector<std::string> shapes;  ///< the timed shapes; at least one
};

/// Predicted utilizations in percent, by Nsight Compute's metric names; empty if the time model
/// predicts no utilization.
struct PredictedProfile {
  std::map<std::string, double> percent = {};
  std::optional<Rejection> rejection = {};
  bool device_lost = false;
};

/// The result of Session::write_outputs().
struct LaunchOutcome {
  std::optional<Rejection> rejection = {};
  bool device_lost = false;
};

/// The gates that need a device, for one problem and template. Device workers use this class.
class Session {
 public:
  /// `device` must outlive this object. Throws CudaError if the reference kernel cannot be loaded,
  /// and the exceptions of Problem::parse().
  Session(Device& device, const SessionSetup& setup);

  /// The correctness gate. `limits_us`: for each of the kernel's shapes, a limit in µs on the
  /// kernel's time. A quick check stops early if the kernel certainly exceeds a limit (EarlyStop).
  /// If `limits_us` is empty, there are no limits.
  [[nodiscard]] CorrectnessResult check(const KernelUnderTest& kernel, CheckKind check_kind,
                                        const std::vector<double>& limits_us,
                                        const Progress& progress);

  /// Times the kernel on one of its shapes. On a device that measures times, also launches the
  /// kernel kAgedLaunches times, or until a time limit is reached, and checks it again (ageing). A
  /// quick check ages the kernel only after the timing on its last shape, and only if this timing
  /// is precise. Timing stops early if the kernel is certainly slower than `early_stop_us`.
  [[nodiscard]] TimingResult time(const KernelUnderTest& kernel, const std::string& shape,
                                  CheckKind check_kind, double early_stop_us,
                                  const Progress& progress);

  [[nodiscard]] PairResult compare_pair(const KernelUnderTest& first, const KernelUnderTest& second,
                                        const std::string& shape, const Progress& progress);

  /// Measures the energy of one launch in repeated launches during at least `window_s` seconds.
  [[nodiscard]] EnergyResult energy(const KernelUnderTest& kernel, const std::string& shape,
                                    double window_s, const Progress& progress);

  /// The utilization of the GPU's units in one launch, as predicted by the time model of a virtual
  /// GPU.
  [[nodiscard]] PredictedProfile predicted_profile(const KernelUnderTest& kernel,
                                                   const std::string& shape,
                                                   const Progress& progress);

  /// Launches the kernel once on the inputs of the first seed, with zeroed `out` arguments, and
  /// writes each output to `folder`/NAME.npy. Does not compare the outputs. Throws InputError if a
  /// file cannot be written.
  [[nodiscard]] LaunchOutcome write_outputs(const KernelUnderTest& kernel, const std::string& shape,
                                            const std::string& folder, const Progress& progress);

  /// Warms the kernel up on its first shape and launches it once between calls that start and stop
  /// the profiler. Returns the kernel's fault, if any.
  [[nodiscard]] std::optional<Fault> launch_profiled(const KernelUnderTest& kernel);

 private:
  using Clock = std::chrono::steady_clock;
  struct Cached {
    std::string key;
    LoadedKernel kernel;
  };

  void report_to(const Progress& progress);
  [[nodiscard]] EarlyStop early_stop(const KernelUnderTest& kernel, CheckKind check_kind,
                                     const std::vector<double>& limits_us) const;
  /// Whether a check has shown that the kernel's launches on `shape` are very long
  /// (kVeryLongLaunchUs).
  [[nodiscard]] bool is_very_long(const KernelUnderTest& kernel, const std::string& shape) const {
    return very_long_.contains({kernel.key, shape});
  }
  void learn_time(const KernelUnderTest& kernel, const std::string& shape, const Timing& timing);
  /// If check launches took disproportionately longer than timed launches (is_out_of_proportion()),
  /// loads the kernel anew and checks it again. Rejects the kernel if the check launches of the
  /// second check are too slow, too.
  [[nodiscard]] CorrectnessResult check_if_out_of_proportion(const KernelUnderTest& kernel,
                                                             const std::string& shape,
                                                             const Timing& timing,
                                                             const Progress& progress);
  struct Aged {
    bool is_complete = true;
    std::optional<Rejection> rejection = {};
    bool device_lost = false;
  };
  /// Launches the kernel kAgedLaunches times on the same inputs, or until `most_ms` have passed,
  /// and checks it again. Does nothing if an earlier call has made all launches. Timed launches do
  /// not count among the kAgedLaunches launches, because they alternate between inputs.
  [[nodiscard]] Aged age(const KernelUnderTest& kernel, const LoadedKernel& loaded, double most_ms,
                         const Progress& progress);
  [[nodiscard]] std::vector<const Shape*> checked_shapes(const KernelUnderTest& kernel) const;

  /// The kernel loaded on the device, or the reason why it cannot be loaded.
  [[nodiscard]] std::variant<LoadedKernel, Fault> loaded(const KernelUnderTest& kernel);
  [[nodiscard]] std::optional<LoadedKernel> load_reference(const SessionSetup& setup);

  Device& device_;
  Problem problem_;
  const KernelSpec& spec_;
  TimingOptions timing_;
  std::size_t fresh_case_;
  std::unique_ptr<BufferWork> work_;
  ProblemPrograms programs_;
  CaseSet cases_;
  OutputJudge judge_;
  CorrectnessGate correctness_;
  GpuWatch gpu_;
  std::vector<Cached> kernels_;  ///< most recently used last
  std::string timed_last_;       ///< the key of the kernel that was timed last
  Clock::time_point worked_at_;  ///< when the device last worked
  CheckTimes check_times_;
  std::map<std::pair<std::string, std::string>, CheckedTime> checked_;  ///< by kernel and shape
  std::set<std::pair<std::string, std::string>> very_long_;             ///< kernels and shapes
  std::map<std::string, std::int64_t> launches_;  ///< by kernel: launches that count as ageing
};

}  // namespace evo
