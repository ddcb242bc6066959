#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "engine/core/random.hpp"
#include "engine/core/rejection.hpp"
#include "engine/core/statistics.hpp"
#include "engine/gate/correctness/correctness.hpp"
#include "engine/gate/gpu/gpu_watch.hpp"
#include "engine/gate/timing/stopping_rule.hpp"
#include "engine/gate/timing/stopwatch.hpp"

namespace evo {

struct TimingResult {
  std::optional<Timing> timing = {};
  std::optional<Rejection> rejection = {};
  bool device_lost = false;
  /// false: the kernel needs more launches before it may enter the elite
  bool aged = true;
  /// state of the GPU during timing, if the device reports its state
  std::optional<GpuState> gpu = {};
};

/// Measures the time of one kernel on one shape. Takes samples until the StoppingRule is finished,
/// and verifies launches between samples and at the end (Stopwatch::verify). Also queries the GPU,
/// and repeats the samples of a throttled GPU (GpuWatch).
class Measurement {
 public:
  /// All objects passed by reference must outlive this object.
  Measurement(const Stopwatch::Setup& setup, GpuWatch& gpu, const LoadedKernel& kernel,
              const Shape& shape, const Progress& progress);

  /// Runs the measurement; call it once.
  [[nodiscard]] TimingResult run();

 private:
  void take_samples();
  void take_sample();
  /// Whether the first launches suggest that the kernel is too slow, so that the first samples
  /// should be taken without a warm-up.
  [[nodiscard]] bool stops_early() const;
  void warm_up_after_all();
  void doubt(Stopwatch::Doubt what);
  void doubt_in_turn();
  void doubt_at_the_end();
  /// Adds samples: the times of long launches whose results were verified or that determined the
  /// number of samples (Stopwatch::take_other_us).
  void add_others();
  /// Queries the GPU. If the samples since the last query are invalid, discards them and returns
  /// false.
  bool look_at_gpu();
  [[nodiscard]] bool is_over() const { return stopwatch_.fault() || result_.rejection; }

  const TimingOptions& options_;
  const Shape& shape_;
  const Progress& progress_;
  GpuWatch& gpu_;
  Stopwatch stopwatch_;
  Random random_;
  StoppingOptions stopping_;
  StoppingRule rule_;
  StoppingRule counted_;  ///< the samples up to the last query of the GPU
  std::optional<StoppingOptions::EarlyStopLook> early_;
  double since_look_us_ = 0;
  bool is_warm_ = true;
  bool is_taken_again_ = false;  ///< the samples were repeated because the launches became slower
  /// The planned verifications, by the number of samples before each. Kernels cannot predict the
  /// verifications, because some of the numbers, or their order, are random.
  std::map<std::size_t, Stopwatch::Doubt> doubts_;
  TimingResult result_;
};

}  // namespace evo
