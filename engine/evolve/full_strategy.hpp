#pragma once

#include <cstddef>
#include <memory>

#include "engine/evolve/failure_model.hpp"
#include "engine/evolve/kernel_fit.hpp"
#include "engine/evolve/proposal_pool.hpp"
#include "engine/evolve/strategies.hpp"

namespace evo {

/// Settings of FullStrategy. The strategy `full` uses the defaults; tools/bench/search_ablation
/// measures the effect of each setting.
struct FullSettings {
  /// evaluations before the model takes over, at least three of which have a time
  std::size_t initial = 8;
  /// each of the first proposals is the most distant of this many random candidates
  std::size_t initial_draws = 12;
  std::size_t max_training = 224;  ///< largest number of training observations
  double clip = 2;                 ///< clips ln times above best + clip · (median − best)
  double beta_low = 1.5;           ///< β of the first proposal of a generation
  double beta_high = 4;            ///< β of the last proposal; β grows from the first to the last
  std::size_t runners_up = 8;      ///< number of runners-up that join the next pool
  bool learns_kernel = true;       ///< false: keeps the covariance kernel of the prior
  FailureSettings failure = {};
  PoolSettings pool = {};
  KernelPrior prior = {};
};

/// The strategy EvoEngineer-Full (Guo et al., arXiv 2510.03760), with a statistical model in place
/// of the language model. Steps:
///
///   1. Spread the first candidates (FullSettings::initial) over the space: each is the one of
///      several random candidates that is most distant from the seen candidates.
///   2. Insight: fit a Gaussian process to ln time. The fitted covariance kernel says how much
///      each parameter matters, and covers interactions of any number of parameters. A second model
///      predicts failures.
///   3. Breeding: collect a pool of valid, unseen candidates: neighbours, mutants and crossovers of
///      the elite, random candidates, and the runners-up of the last proposal. Add the neighbours
///      of the most promising candidates of the pool.
///   4. Choose, one by one, the candidate of the pool with the lowest mean − β · deviation +
///      penalty for failing. β grows within a generation, so that the first proposals refine the
///      best candidates and the last proposals explore; for a single proposal, β is drawn at
///      random. Chosen candidates and candidates under evaluation are assumed to have their
///      predicted times, so that proposals do not cluster.
///
/// The strategy's state is a function of the seed and of the sequence of propose() and observe()
/// calls. `space` must outlive the strategy.
[[nodiscard]] std::unique_ptr<Strategy> make_full(const CandidateSpace& space,
                                                  const StrategyOptions& options,
                                                  const FullSettings& settings);

}  // namespace evo
