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

/// A grid in which only a sample of CTAs is executed.
struct GridToSample {
  std::uint64_t ctas = 1;
  std::uint64_t seed = 1;
  ExecuteCtas execute;
  std::shared_ptr<const GridSurvey> survey = {};  ///< CTAs grouped by their path; null: unknown
  std::uint64_t most_work = kMostSampledWork;
};

/// Executes a sample of CTAs that represents a grid. If the CTAs' paths are known, executes eight
/// CTAs or more: at least one of each group of CTAs with the same path (GridSurvey) or, if there
/// are more than 16 groups, of 16 groups whose work ranges from the least to the most. If the paths
/// are unknown, executes eight CTAs and, if their work differs, more up to `most_work`.
[[nodiscard]] std::variant<ExecutedGrid, Fault> execute_sample(const GridToSample& grid);

}  // namespace evo::ptx
