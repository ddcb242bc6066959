#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace evo {

/// Grid in CTAs, block in threads, and dynamic shared memory per CTA of a launch.
struct LaunchConfig {
  std::array<std::uint32_t, 3> grid = {1, 1, 1};
  std::array<std::uint32_t, 3> block = {1, 1, 1};
  std::uint32_t dynamic_shared_bytes = 0;

  [[nodiscard]] std::uint64_t ctas() const { return std::uint64_t{grid[0]} * grid[1] * grid[2]; }
  [[nodiscard]] std::uint64_t threads() const {
    return std::uint64_t{block[0]} * block[1] * block[2];
  }
};

/// A launch of one kernel, as a step of a launch plan.
struct LaunchStep {
  LaunchConfig config = {};
  std::size_t entry = 0;  ///< index of the kernel in KernelImage::entries
  /// Indices of the launch's arguments that this kernel takes, in the order of its parameters;
  /// nullopt: the kernel takes all arguments.
  std::optional<std::vector<std::size_t>> arguments = {};
};

/// The steps of one launch of a loaded kernel, which run one after the other. Most kernels have one
/// step, which a LaunchConfig describes completely.
struct LaunchPlan {
  LaunchPlan() = default;
  LaunchPlan(const LaunchConfig& config) : steps{{config}} {}
  LaunchPlan(const std::array<std::uint32_t, 3>& grid, const std::array<std::uint32_t, 3>& block,
             std::uint32_t dynamic_shared_bytes = 0)
      : LaunchPlan(LaunchConfig{grid, block, dynamic_shared_bytes}) {}
  explicit LaunchPlan(std::vector<LaunchStep> all) : steps(std::move(all)) {}

  [[nodiscard]] std::uint64_t ctas() const {
    std::uint64_t sum = 0;
    for (const LaunchStep& step : steps) sum += step.config.ctas();
    return sum;
  }

  std::vector<LaunchStep> steps = std::vector<LaunchStep>(1);
};

}  // namespace evo
