#pragma once

#include <cstdint>
#include <memory>
#include <variant>

#include "engine/device/device.hpp"
#include "engine/device/virtual/timing/grid_kinds.hpp"
#include "engine/device/virtual/timing/grid_survey.hpp"

namespace evo::ptx {

/// Limit of warp instructions executed after the first sample to find differences between CTAs.
inline constexpr std::uint64_t kMostSampledWork = std::uint64_t{1} << 23;

/// A grid of which a sample of CTAs is to be executed.
struct GridToSample {
  std::uint64_t ctas = 1;
  std::uint64_t seed = 1;
  ExecuteCtas execute;
  std::shared_ptr<const GridSurvey> survey = {};  ///< CTAs grouped by their path; null: unknown
  std::uint64_t most_work = kMostSampledWork;
};

/// Executes CTAs that represent a grid: eight or more, including one from each group of the survey,
/// or from 16 groups between the least and the most work. Without a survey, if eight CTAs differ,
/// executes 64, and then all others as far as `most_work` allows.
[[nodiscard]] std::variant<ExecutedGrid, Fault> execute_sample(const GridToSample& grid);

}  // namespace evo::ptx
