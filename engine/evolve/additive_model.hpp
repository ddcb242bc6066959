#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "engine/core/candidate.hpp"
#include "engine/space/candidate_space.hpp"

namespace evo {

/// Bayesian linear regression of a target (such as ln time) on a candidate's values: target = mean
/// + the sum of effect(p, v) over all parameters p with their values v. All effects have the same
/// normal prior around 0. The prior's variance is the value of a grid that maximises the evidence.
class AdditiveModel {
 public:
  /// `targets`: the target of each candidate. `candidates` must not be empty.
  AdditiveModel(const CandidateSpace& space, std::span<const Candidate> candidates,
                std::span<const double> targets);

  [[nodiscard]] double effect(std::size_t parameter, std::size_t value) const;
  [[nodiscard]] double predict(const Candidate& candidate) const;

 private:
  [[nodiscard]] std::size_t column(std::size_t parameter, std::size_t value) const {
    return first_column_[parameter] + value;
  }

  std::vector<std::size_t> first_column_;
  double mean_ = 0;
  std::vector<double> effects_;
};

}  // namespace evo
