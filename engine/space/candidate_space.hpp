#pragma once

#include <cstddef>
#include <vector>

#include "engine/core/candidate.hpp"
#include "engine/core/random.hpp"

namespace evo {

/// How many valid candidates a space has.
struct SpaceCount {
  double value = 0;
  bool exact = true;  ///< false: estimated by sampling
};

/// What a search strategy may know of a space, be it a search space file or a recorded space.
class CandidateSpace {
 public:
  virtual ~CandidateSpace() = default;

  [[nodiscard]] virtual std::size_t parameter_count() const = 0;
  /// Number of values of one parameter, at least 1.
  [[nodiscard]] virtual std::size_t value_count(std::size_t parameter) const = 0;
  /// True when the parameter's values are numbers in ascending order, so that neighbours mean
  /// something.
  [[nodiscard]] virtual bool is_ordered(std::size_t parameter) const = 0;
  [[nodiscard]] virtual bool is_valid(const Candidate& candidate) const = 0;
  /// Uniform over the valid candidates.
  [[nodiscard]] virtual Candidate sample(Random& random) const = 0;
  [[nodiscard]] virtual SpaceCount count() const = 0;
};

}  // namespace evo
