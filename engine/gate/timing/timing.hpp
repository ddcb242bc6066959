#pragma once

#include <optional>

#include "engine/gate/timing/measurement.hpp"
#include "engine/gate/timing/pair_comparison.hpp"

namespace evo {

/// The roofline bound in µs: the lowest time in which the device can compute `flops`, and move
/// `bytes` if they exceed its L2 cache. A time below the bound shows a fault of the kernel or the
/// clock, or too large numbers in the problem. The bound is 0 if the device's peaks are unknown.
[[nodiscard]] double floor_us(const DeviceInfo& device, double flops, double bytes);

/// The timing gate. A virtual GPU only predicts the time of a launch. On a GPU, the gate measures
/// the time of one launch inside a graph of many launches, over rotating inputs. The gate also
/// verifies that timed launches compute the expected results (Stopwatch::verify), at moments that
/// the kernel cannot predict and at the end. If a result is wrong, the rejection names the
/// correctness gate. Samples of a throttled GPU are repeated (GpuWatch).
class TimingGate {
 public:
  /// All objects passed by reference must outlive this object. `fresh_case`: index of the first
  /// check case on which only this gate launches kernels.
  TimingGate(BufferWork& work, const Problem& problem, CaseSet& cases, OutputJudge& judge,
             GpuWatch& gpu, std::size_t fresh_case, const TimingOptions& options)
      : work_(work),
        device_(work.device()),
        problem_(problem),
        cases_(cases),
        judge_(judge),
        gpu_(gpu),
        fresh_case_(fresh_case),
        options_(options) {}

  [[nodiscard]] TimingResult time(const LoadedKernel& kernel, const Shape& shape,
                                  const Progress& progress);

  /// Compares two kernels on a GPU by interleaved pairs of launches (A B B A …). Comparing a kernel
  /// with itself gives a tie in at least 99 % of comparisons.
  [[nodiscard]] PairResult compare_pair(const LoadedKernel& first, const LoadedKernel& second,
                                        const Shape& shape, const Progress& progress);

 private:
  [[nodiscard]] Stopwatch::Setup setup() const {
    return {work_, problem_, cases_, judge_, options_, fresh_case_};
  }
  [[nodiscard]] TimingResult predict(const LoadedKernel& kernel, const Shape& shape);
  [[nodiscard]] std::optional<Rejection> too_fast(const Timing& timing, const Shape& shape) const;

  BufferWork& work_;
  Device& device_;
  const Problem& problem_;
  CaseSet& cases_;
  OutputJudge& judge_;
  GpuWatch& gpu_;
  std::size_t fresh_case_;
  TimingOptions options_;
};

}  // namespace evo
