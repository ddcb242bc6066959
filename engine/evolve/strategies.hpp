#pragma once

#include <memory>
#include <vector>

#include "engine/evolve/seen_set.hpp"
#include "engine/evolve/strategy.hpp"

namespace evo {

/// The base class of all strategies. Contains the random generator and the set of seen candidates.
class SearchBase : public Strategy {
 public:
  SearchBase(const CandidateSpace& space, const StrategyOptions& options)
      : space_(space), options_(options), random_(options.seed), seen_(space) {
    for (std::size_t p = 0; p < space.parameter_count(); ++p) {
      if (space.value_count(p) > 1) active_.push_back(p);
    }
  }

  /// Adds each candidate to the seen ones, then calls learn().
  void observe(std::span<const Observation> observations) override;

 protected:
  /// Learns from one candidate of observe(). This default does nothing.
  virtual void learn(const Observation& /*observation*/) {}

  /// Appends the candidate to `proposals` and adds it to the seen ones if it is valid and unseen;
  /// otherwise returns false.
  bool take(const Candidate& candidate, std::vector<Candidate>& proposals);

  /// Appends random unseen candidates to `proposals` until it has `count` or none are left.
  void fill(std::vector<Candidate>& proposals, std::size_t count);

  /// A random value of a parameter that differs from `value`. For an ordered parameter, the result
  /// is the next or the previous value with probability 1/2 or more. The parameter must have at
  /// least two values.
  [[nodiscard]] std::uint16_t other_value(std::size_t parameter, std::uint16_t value);

  const CandidateSpace& space_;
  StrategyOptions options_;
  Random random_;
  SeenSet seen_;
  std::vector<std::size_t> active_;  ///< the parameters with at least two values
};

/// A candidate that passed all gates, with ln of its Observation::time_us.
struct Scored {
  Candidate candidate;
  double log_time = 0;
};

#define EVO_STRATEGY(name, source, learns)                                         \
  [[nodiscard]] std::unique_ptr<Strategy> make_##name(const CandidateSpace& space, \
                                                      const StrategyOptions& options);
#include "engine/evolve/strategies.def"
#undef EVO_STRATEGY

}  // namespace evo
