#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/device/device.hpp"
#include "engine/gate/correctness/correctness.hpp"
#include "engine/gate/timing/energy.hpp"
#include "engine/gate/timing/timing.hpp"

namespace evo {

/// What a device worker is told once, before the first kernel.
struct SessionSetup {
  std::string problem_text;
  std::string problem_folder;
  std::string template_name;
  KernelImage reference;      ///< without an entry no kernel is the reference
  Values reference_macros;    ///< of its configuration, where it is one of the template's own
  KernelImage check_kernels;  ///< of check_kernels.cu; without an entry the host checks
  std::uint64_t check_seed = 0;
  CorrectnessOptions correctness;
  TimingOptions timing;
};

/// A kernel as the coordinator sends it.
struct KernelUnderTest {
  std::string key;  ///< names the image, so that it is loaded once
  KernelImage image;
  Values macros;
  std::vector<std::string> shapes;  ///< timed: it is checked on these too; at least one
};

/// Percent of the time, by Nsight Compute's names; empty where the time model does not say.
struct PredictedProfile {
  std::map<std::string, double> percent = {};
  std::optional<Rejection> rejection = {};
  bool device_lost = false;
};

/// How one launch went whose outputs were written to files.
struct LaunchOutcome {
  std::optional<Rejection> rejection = {};
  bool device_lost = false;
};

/// The gates that need a device, on one problem and template. Lives in a worker process.
class Session {
 public:
  /// `device` must outlive the session. Throws CudaError when the reference does not load.
  Session(Device& device, const SessionSetup& setup);

  /// `limits_us`: of each of the kernel's shapes; a quick check ends early on a kernel that is
  /// surely slower (EarlyStop). Empty: no limits.
  [[nodiscard]] CorrectnessResult check(const KernelUnderTest& kernel, Effort effort,
                                        const std::vector<double>& limits_us,
                                        const Progress& progress);

  /// Times the kernel on one of its shapes, and checks it once more after as many launches as it
  /// sees in production. Gives up early on one that is surely slower than `early_stop_us`.
  [[nodiscard]] TimingResult time(const KernelUnderTest& kernel, const std::string& shape,
                                  Effort effort, double early_stop_us, const Progress& progress);

  [[nodiscard]] PairResult compare_pair(const KernelUnderTest& first, const KernelUnderTest& second,
                                        const std::string& shape, const Progress& progress);

  /// What one launch takes from the card's supply, over a window of at least so many seconds.
  [[nodiscard]] EnergyResult energy(const KernelUnderTest& kernel, const std::string& shape,
                                    double window_s, const Progress& progress);

  /// How busy the time model says the units are in one launch.
  [[nodiscard]] PredictedProfile predicted_profile(const KernelUnderTest& kernel,
                                                   const std::string& shape,
                                                   const Progress& progress);

  /// Launches the kernel once on the inputs of the first seed, its outputs zero before, and writes
  /// what it leaves in each output to `folder`/NAME.npy. Compares nothing. Throws InputError when a
  /// file cannot be written.
  [[nodiscard]] LaunchOutcome write_outputs(const KernelUnderTest& kernel, const std::string& shape,
                                            const std::string& folder, const Progress& progress);

  /// Warms the kernel up on its first shape and launches it once between the marks of a profiler.
  /// What it did wrong.
  [[nodiscard]] std::optional<Fault> launch_profiled(const KernelUnderTest& kernel);

 private:
  using Clock = std::chrono::steady_clock;
  struct Cached {
    std::string key;
    LoadedKernel kernel;
  };

  void report_to(const Progress& progress);
  [[nodiscard]] EarlyStop early_stop(const KernelUnderTest& kernel, Effort effort,
                                     const std::vector<double>& limits_us) const;
  void learn_time(const KernelUnderTest& kernel, const std::string& shape, const Timing& timing);
  struct Aged {
    bool is_complete = true;
    std::optional<Rejection> rejection = {};
    bool device_lost = false;
  };
  /// Launches it until it was launched kAgedLaunches times, on all shapes together, or as often as
  /// `most_ms` allow, and checks it once more.
  [[nodiscard]] Aged age(const KernelUnderTest& kernel, const LoadedKernel& loaded, double most_ms,
                         const Progress& progress);
  [[nodiscard]] std::vector<const Shape*> checked_shapes(const KernelUnderTest& kernel) const;

  /// The kernel loaded on the device, or why it cannot be.
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
  CardWatch card_;
  std::vector<Cached> kernels_;  ///< most recently used last
  std::string timed_last_;       ///< the key of the kernel that was timed last
  Clock::time_point worked_at_;  ///< when the device did something last
  CheckTimes check_times_;
  std::map<std::pair<std::string, std::string>, CheckedTime> checked_;  ///< by kernel and shape
  std::map<std::string, std::int64_t> launches_;  ///< by kernel, those that count as ageing
};

}  // namespace evo
