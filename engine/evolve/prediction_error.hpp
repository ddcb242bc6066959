#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/core/candidate.hpp"
#include "engine/evolve/kernel_fit.hpp"

namespace evo {

/// By how much predicted times are wrong, learned from what was measured: ln (measured / predicted)
/// as a Gaussian process over the parameters. The same on every machine.
class PredictionError {
 public:
  explicit PredictionError(const CandidateSpace& space);

  /// Both times > 0.
  void learn(const Candidate& candidate, double predicted_us, double measured_us);

  /// The expected ln (measured / predicted) of each; 0 while too little is known.
  [[nodiscard]] std::vector<double> expected(std::span<const Candidate> candidates);

 private:
  Encoding encoding_;
  FittedKernel fitted_;
  double next_fit_ = 0;
  std::vector<std::uint16_t> points_;
  std::vector<double> errors_;
};

}  // namespace evo
