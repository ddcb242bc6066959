#pragma once

#include <cstdint>
#include <memory>
#include <variant>

#include "engine/device/device.hpp"
#include "engine/device/virtual/timing/grid_kinds.hpp"
#include "engine/device/virtual/timing/grid_survey.hpp"

namespace evo::ptx {

/// Limit of the warp instructions that are executed after the first sample, to find differences
/// between CTAs.
inline constexpr std::uint64_t kMostSampledWork = std::uint64_t{1} << 23;

/// A grid of which only a sample of CTAs is executed.
struct GridToSample {
  std::uint64_t ctas = 1;
  std::uint64_t seed = 1;
  ExecuteCtas execute;
  std::shared_ptr<const GridSurvey> survey = {};  ///< CTAs grouped by their path; null: unknown
  std::uint64_t most_work = kMostSampledWork;
};

/// Executes a sample of CTAs that represents a grid: at least eight CTAs, of which at least one is
/// in each group of CTAs with the same path (GridSurvey). If there are more than 16 groups, 16
/// groups between the least and the most work are chosen. If the paths are unknown, and eight CTAs
/// differ in their work, executes 64 CTAs, and then all other CTAs until `most_work` is reached.
[[nodiscard]] std::variant<ExecutedGrid, Fault> execute_sample(const GridToSample& grid);

}  // namespace evo::ptx
