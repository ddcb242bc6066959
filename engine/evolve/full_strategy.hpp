#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/evolve/kernel.hpp"
#include "engine/evolve/seen_set.hpp"
#include "engine/evolve/strategy.hpp"

namespace evo {

/// Everything that can be turned in FullStrategy; the ablations of docs/search.md turn one at a
/// time.
struct FullSettings {
  std::size_t initial = 8;
  std::size_t max_training = 224;
  std::size_t pool_random = 150;
  std::size_t pool_pairs = 80;
  std::size_t pool_cross = 50;
  std::size_t pool_climb = 3;
  std::size_t elites = 3;
  double clip = 2.0;
  double noise = 0.01;
  double beta_low = 0.3;
  double beta_high = 1.8;
  double fail_weight = 2.0;
  double fail_power = 3.0;
  double fail_prior = 1.0;
  std::size_t fit_points = 96;
  double fit_growth = 1.25;
  int acquisition = 0;  // 0 LCB 1 EI
  int transform = 0;
  int hyper = 1;
  double relevance = 0.6;
  double length = 0.5;
};

[[nodiscard]] std::unique_ptr<Strategy> make_full(const CandidateSpace& space,
                                                  const StrategyOptions& options,
                                                  const FullSettings& settings = {});

}  // namespace evo
