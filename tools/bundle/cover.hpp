#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace evo {

/// The time of each kernel (outer) on each shape (inner), in µs; nothing where it is not known.
using TimeTable = std::vector<std::vector<std::optional<double>>>;

/// Which kernel serves each shape.
using KernelOfShape = std::vector<std::size_t>;

/// The fewest kernels such that each shape has one that takes at most (1 + `loss`) times the
/// shape's best time, and of as few those that lose least over all shapes (the smallest product of
/// ratios to the best); each shape is served by the fastest of them. Kernel after kernel is tried
/// for the shape that has the fewest left; beyond kMostTrials of these the best found until then
/// counts. Throws std::invalid_argument when a shape has no time at all.
[[nodiscard]] KernelOfShape fewest_kernels(const TimeTable& times, double loss);

inline constexpr std::size_t kMostTrials = 1'000'000;

}  // namespace evo
