#pragma once

#include <cstddef>
#include <memory>

#include "engine/evolve/failure_model.hpp"
#include "engine/evolve/kernel_fit.hpp"
#include "engine/evolve/proposal_pool.hpp"
#include "engine/evolve/strategies.hpp"

namespace evo {

/// What can be turned in FullStrategy. The defaults are what `full` means; docs/search.md has what
/// turning each of them costs.
struct FullSettings {
  std::size_t initial = 8;  ///< evaluations before the model takes over
  std::size_t initial_draws =
      12;  ///< random candidates of which the first ones are the most distant
  std::size_t max_training = 224;  ///< observations the model is trained on
  double clip = 2;       ///< slower than best + clip · (median − best) in ln time is as bad
  double beta_low = 1;   ///< standard deviations below the mean that are hoped for: the
  double beta_high = 3;  ///<   first proposal of a generation … its last
  std::size_t runners_up = 8;  ///< the best that were not chosen, in the next pool once more
  bool learns_kernel = true;   ///< or keeps the prior's shapes
  FailureSettings failure = {};
  PoolSettings pool = {};
  KernelPrior prior = {};
};

/// EvoEngineer-Full with a statistical model in the place of the language model:
///
///   1. The first generation is spread out: each candidate is the most distant of several random
///   ones.
///   2. I3, insight: a Gaussian process over ln time. Its kernel learns how much each parameter
///   matters,
///      and carries interactions of every order; another model learns where candidates fail.
///   3. I1 and I2, breeding: valid, unseen neighbours, mutants and crossovers of the elite, random
///      candidates, the runners-up of the last time, and the neighbours of the most promising of
///      all these (ProposalPool).
///   4. Choose one by one: the lowest mean − β · deviation + penalty for failing. β grows along
///      what is proposed at once, from refining to exploring; a proposal on its own draws it. What
///      was chosen, and what is still being evaluated, counts as known, so that proposals do not
///      crowd in one place.
///
/// State is a function of the seed and the sequence of propose() and observe() calls.
/// `space` must outlive the strategy.
[[nodiscard]] std::unique_ptr<Strategy> make_full(const CandidateSpace& space,
                                                  const StrategyOptions& options,
                                                  const FullSettings& settings);

}  // namespace evo
