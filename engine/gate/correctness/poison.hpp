#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/problem/dtype.hpp"

namespace evo {

/// The content of an output before a kernel runs. A kernel that wrongly reads its uninitialised
/// output (for a minimum, sum or maximum) may by luck give right results over some poisons, but not
/// over all of them.
enum class Poison {
  kNan,    ///< all bits 1: NaN in floating-point types, −1 or the largest value in integers
  kBelow,  ///< −infinity, or the lowest value of the type
  kAbove,  ///< the largest finite value
  kZero,
  kRandom,  ///< random bits that a kernel cannot predict
};

/// One element of type `dtype`, with which a buffer is filled. `seed`: used by kRandom.
[[nodiscard]] std::vector<std::byte> poison_pattern(Poison poison, Dtype dtype, std::uint64_t seed);

/// The byte offset of the first unwritten element of an output. `once`: the output of a launch over
/// the poison `pattern`. `again`: the output of a launch over the inverted pattern, or empty. An
/// element counts as unwritten if, in each given output, it still holds the pattern from before the
/// launch.
[[nodiscard]] std::optional<std::size_t> first_poisoned(std::span<const std::byte> once,
                                                        std::span<const std::byte> again,
                                                        std::span<const std::byte> pattern);

inline constexpr std::size_t kPoisons = 5;

/// The poison for launch number `run` on a shape. Any kPoisons successive launches use all poisons.
[[nodiscard]] Poison poison_of_run(std::size_t run);

}  // namespace evo
