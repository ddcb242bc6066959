#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace evo {

/// Grid and block in CTAs and threads, and what a CTA gets beside its static shared memory.
struct LaunchConfig {
  std::array<std::uint32_t, 3> grid = {1, 1, 1};
  std::array<std::uint32_t, 3> block = {1, 1, 1};
  std::uint32_t dynamic_shared_bytes = 0;

  [[nodiscard]] std::uint64_t ctas() const { return std::uint64_t{grid[0]} * grid[1] * grid[2]; }
  [[nodiscard]] std::uint64_t threads() const {
    return std::uint64_t{block[0]} * block[1] * block[2];
  }
};

/// One of the kernels that a launch runs.
struct LaunchStep {
  LaunchConfig config = {};
  std::size_t entry = 0;  ///< which of the image's entries
  /// Which of the launch's arguments are its parameters, in their order; none: all.
  std::optional<std::vector<std::size_t>> arguments = {};
};

/// What one launch of a loaded kernel runs: its steps, each when the one before has ended. Most
/// kernels have one, which a LaunchConfig says alone.
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
