#pragma once

#include <optional>

#include "engine/core/statistics.hpp"
#include "engine/gate/correctness.hpp"
#include "engine/gate/stopping_rule.hpp"

namespace evo {

struct TimingOptions {
  StoppingOptions stopping;
  int warmups = 20;            ///< launches before the first sample
  double sample_us = 200;      ///< a sample is a graph of as many launches as fill this time
  std::size_t input_sets = 4;  ///< rotated through inside a graph
  bool cold = false;           ///< flush the L2 before every (then single) launch
};

struct TimingResult {
  std::optional<Timing> timing = {};
  std::optional<Rejection> rejection = {};
  bool device_lost = false;
};

/// The outcome of timing two kernels in turn.
struct PairResult {
  double ratio = 1;     ///< median of first / second
  Interval interval;    ///< of that median
  double first_us = 0;  ///< medians
  double second_us = 0;
  int pairs = 0;
  std::optional<Rejection> rejection = {};  ///< a kernel failed; `failed_first` says which
  bool failed_first = false;
  bool device_lost = false;

  /// −1: the first is faster beyond doubt, +1: the second, 0: a tie.
  [[nodiscard]] int verdict() const;
};

/// The lowest time in µs in which the device can do `flops`, and move `bytes` where they exceed its
/// L2 cache. Faster than this is a fault of the kernel or of the clock.
[[nodiscard]] double floor_us(const DeviceInfo& device, double flops, double bytes);

/// The timing gate: how long one launch takes inside a graph of many, over rotating inputs.
class TimingGate {
 public:
  TimingGate(Device& device, const Problem& problem, CaseSet& cases, const TimingOptions& options)
      : device_(device), problem_(problem), cases_(cases), options_(options) {}

  [[nodiscard]] TimingResult time(const LoadedKernel& kernel, const Shape& shape,
                                  const Progress& progress);

  /// Interleaved pairs (A B B A …) of two kernels; only on devices that measure. The same kernel
  /// twice is called a tie in at least 99 % of comparisons.
  [[nodiscard]] PairResult compare_pair(const LoadedKernel& first, const LoadedKernel& second,
                                        const Shape& shape, const Progress& progress);

 private:
  class Stopwatch;

  [[nodiscard]] TimingResult predict(const LoadedKernel& kernel, const Shape& shape);
  [[nodiscard]] TimingResult measure(const LoadedKernel& kernel, const Shape& shape,
                                     const Progress& progress);
  [[nodiscard]] std::optional<Rejection> too_fast(const Timing& timing, const Shape& shape) const;

  Device& device_;
  const Problem& problem_;
  CaseSet& cases_;
  TimingOptions options_;
};

}  // namespace evo
