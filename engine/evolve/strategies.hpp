#pragma once

#include <memory>
#include <vector>

#include "engine/evolve/seen_set.hpp"
#include "engine/evolve/strategy.hpp"

namespace evo {

/// A generator, and the memory of what was proposed: what every strategy needs.
class SearchBase : public Strategy {
 public:
  SearchBase(const CandidateSpace& space, const StrategyOptions& options)
      : space_(space), options_(options), random_(options.seed), seen_(space) {}

 protected:
  /// Appends a valid candidate that is new. False when it is neither.
  bool take(const Candidate& candidate, std::vector<Candidate>& proposals);

  /// Random new candidates up to `count`, or until the space holds no more.
  void fill(std::vector<Candidate>& proposals, std::size_t count);

  /// A random other value for one parameter; of an ordered one, every second time the next or the
  /// previous. The parameter must have at least two values.
  [[nodiscard]] std::uint16_t other_value(std::size_t parameter, std::uint16_t value);

  /// The parameters with at least two values.
  [[nodiscard]] std::vector<std::size_t> active_parameters() const;

  const CandidateSpace& space_;
  StrategyOptions options_;
  Random random_;
  SeenSet seen_;
};

/// A candidate that ran, with ln of its time in microseconds.
struct Scored {
  Candidate candidate;
  double log_time = 0;
};

/// Random search without replacement.
[[nodiscard]] std::unique_ptr<Strategy> make_random(const CandidateSpace& space,
                                                    const StrategyOptions& options);
/// Every candidate in the order of its rank; the seed does not matter.
[[nodiscard]] std::unique_ptr<Strategy> make_exhaustive(const CandidateSpace& space,
                                                        const StrategyOptions& options);
/// (µ + λ) genetic algorithm: tournaments, uniform crossover, mutation, repair.
[[nodiscard]] std::unique_ptr<Strategy> make_genetic(const CandidateSpace& space,
                                                     const StrategyOptions& options);
/// Simulated annealing on log time with restarts.
[[nodiscard]] std::unique_ptr<Strategy> make_annealing(const CandidateSpace& space,
                                                       const StrategyOptions& options);
/// Differential evolution (current-to-best/1/bin) on value indices, rounded and repaired.
[[nodiscard]] std::unique_ptr<Strategy> make_differential(const CandidateSpace& space,
                                                          const StrategyOptions& options);
/// Greedy iterated local search.
[[nodiscard]] std::unique_ptr<Strategy> make_local(const CandidateSpace& space,
                                                   const StrategyOptions& options);
/// EvoEngineer-Free: task context and the single best, no insight.
[[nodiscard]] std::unique_ptr<Strategy> make_free(const CandidateSpace& space,
                                                  const StrategyOptions& options);
/// EvoEngineer-Insight: Free, with mutations guided by what each value did so far.
[[nodiscard]] std::unique_ptr<Strategy> make_insight(const CandidateSpace& space,
                                                     const StrategyOptions& options);

}  // namespace evo
