#pragma once

#include <cstdint>
#include <memory>
#include <variant>

#include "engine/device/device.hpp"
#include "engine/device/virtual/timing/grid_kinds.hpp"
#include "engine/device/virtual/timing/grid_survey.hpp"

namespace evo::ptx {

/// Limit of the warp instructions of all samples together. The first sample may exceed it; further
/// samples are executed only if the work of the CTAs differs.
inline constexpr std::uint64_t kMostSampledWork = std::uint64_t{1} << 23;

/// A grid in which only a sample of CTAs is executed.
struct GridToSample {
  std::uint64_t ctas = 1;
  std::uint64_t seed = 1;
  ExecuteCtas execute;
  std::shared_ptr<const GridSurvey> survey = {};  ///< CTAs grouped by their path; null: unknown
  std::uint64_t most_work = kMostSampledWork;
};

/// Executes a sample of CTAs that represents a grid. If the CTAs' paths are known, executes one CTA
/// of each group of CTAs with the same path (GridSurvey) or, if there are more than 16 groups, of
/// 16 groups whose work ranges from the least to the most; then more CTAs of the largest group
/// until eight CTAs, or all CTAs of this group, are executed. If the paths are unknown, executes
/// eight CTAs and, if their work differs, more CTAs, up to `most_work` warp instructions.
[[nodiscard]] std::variant<ExecutedGrid, Fault> execute_sample(const GridToSample& grid);

}  // namespace evo::ptx
