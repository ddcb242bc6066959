#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <variant>
#include <vector>

#include "engine/core/random.hpp"
#include "engine/device/device.hpp"
#include "engine/device/virtual/timing/grid_kinds.hpp"

namespace evo::ptx {

/// CTAs of a grid in the order in which they are looked at: the first, the last, then as drawn.
class CtaDraw {
 public:
  CtaDraw(std::uint64_t ctas, std::uint64_t seed) : ctas_(ctas), random_(seed) {}

  /// The next `count`, in the order of the grid; fewer where no more are left.
  [[nodiscard]] std::vector<std::uint64_t> next(std::uint64_t count);

 private:
  std::uint64_t ctas_;
  Random random_;
  std::set<std::uint64_t> drawn_;
};

/// Executes CTAs of a launch and counts what they do.
using ExecuteCtas = std::function<std::variant<GridCounts, Fault>(std::vector<std::uint64_t> ctas)>;

/// Warp instructions that are executed at most to see how CTAs differ, beyond the first sample.
inline constexpr std::uint64_t kMostSampledWork = std::uint64_t{1} << 23;

/// Executes CTAs that stand for a grid: eight; where these differ, 64, then all that are left, as
/// far as `most_work` allows.
[[nodiscard]] std::variant<ExecutedGrid, Fault> execute_sample(
    std::uint64_t ctas, std::uint64_t seed, const ExecuteCtas& execute,
    std::uint64_t most_work = kMostSampledWork);

}  // namespace evo::ptx
