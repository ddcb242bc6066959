#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/evolve/kernel.hpp"

namespace evo {

struct FailureSettings {
  KernelShape shape = {.relevance = 0.8, .length = 0.3};  ///< the same for every parameter
  double power = 2;                                       ///< of the kernel: how local failures are
  double prior = 0.05;       ///< weight of the overall failure rate, in observations at no distance
  double penalty = 2;        ///< what certain failure costs, in standard deviations of ln time
  std::size_t memory = 256;  ///< observations of each kind it looks at, the latest
};

/// The probability that a candidate fails: the share of failures among what was seen, weighted by
/// similarity (Nadaraya–Watson). Apart from the model of times, as another kernel fits: a limit of
/// the device is crossed by parameters that may not matter for the time at all.
class FailureModel {
 public:
  FailureModel(const std::vector<KernelDimension>& dimensions, const FailureSettings& settings);

  /// `point`: encoded.
  void add(std::span<const std::uint16_t> point, bool failed);

  /// 0 … 1 for each of `pool` (encoded); all 0 before the first failure.
  [[nodiscard]] std::vector<float> probability(std::span<const std::uint16_t> pool) const;

 private:
  struct Kind {
    std::vector<std::uint16_t> points;
    std::size_t count = 0;
  };
  [[nodiscard]] std::vector<float> weight(const Kind& kind,
                                          std::span<const std::uint16_t> pool) const;

  std::size_t width_;
  FailureSettings settings_;
  Kernel kernel_;
  Kind ran_;
  Kind failed_;
};

}  // namespace evo
