#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace evo {

/// The time of each kernel (outer) on each shape (inner), in µs; nullopt if unknown.
using TimeTable = std::vector<std::vector<std::optional<double>>>;

/// The index of the kernel that serves each shape.
using KernelOfShape = std::vector<std::size_t>;

/// Chooses the fewest kernels such that each shape has a kernel within (1 + `loss`) times the
/// shape's best time. Among equally small sets, chooses the set with the smallest product over the
/// shapes of time / best time. A shape is served by the chosen kernel that is fastest on this
/// shape. The search branches on the unserved shape with the fewest kernels within the limit, and
/// ends after kMostTrials trials with the best set so far. Throws std::invalid_argument if a shape
/// has no time at all.
[[nodiscard]] KernelOfShape fewest_kernels(const TimeTable& times, double loss);

inline constexpr std::size_t kMostTrials = 1'000'000;

}  // namespace evo
