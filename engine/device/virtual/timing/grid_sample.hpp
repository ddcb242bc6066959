#pragma once

#include <cstdint>
#include <memory>
#include <variant>

#include "engine/device/device.hpp"
#include "engine/device/virtual/timing/grid_kinds.hpp"
#include "engine/device/virtual/timing/grid_survey.hpp"

namespace evo::ptx {

/// Warp instructions that are executed at most to see how CTAs differ, beyond the first sample.
inline constexpr std::uint64_t kMostSampledWork = std::uint64_t{1} << 23;

/// A grid of which a few CTAs are to be executed.
struct GridToSample {
  std::uint64_t ctas = 1;
  std::uint64_t seed = 1;
  ExecuteCtas execute;
  std::shared_ptr<const GridSurvey> survey = {};  ///< which CTAs go the same way; null: not known
  std::uint64_t most_work = kMostSampledWork;
};

/// Executes CTAs that stand for a grid: eight, among them one of each group of the survey, or of 16
/// groups from the least to the most work. Without a survey, where the eight differ, 64, then all
/// that are left, as far as `most_work` allows.
[[nodiscard]] std::variant<ExecutedGrid, Fault> execute_sample(const GridToSample& grid);

}  // namespace evo::ptx
