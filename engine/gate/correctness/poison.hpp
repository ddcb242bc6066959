#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/problem/dtype.hpp"

namespace evo {

/// What lies in an output before a kernel runs. A kernel that reads its output as if it had been
/// initialised (a minimum, a sum, a maximum of what is there) is right over some of them by luck,
/// never over all.
enum class Poison {
  kNan,    ///< every bit 1: NaN in floating-point types, −1 or the largest in integers
  kBelow,  ///< −infinity, or the lowest value of the type
  kAbove,  ///< the largest finite value
  kZero,
  kRandom,  ///< bits that no kernel can know
};

/// One element of `dtype`, to be repeated. `seed`: for kRandom.
[[nodiscard]] std::vector<std::byte> poison_pattern(Poison poison, Dtype dtype, std::uint64_t seed);

/// The byte at which the first element starts that holds `pattern`, of poison_pattern(), in `once`
/// and its complement in `again`, of the same size. Without `again`: that holds `pattern`.
[[nodiscard]] std::optional<std::size_t> first_poisoned(std::span<const std::byte> once,
                                                        std::span<const std::byte> again,
                                                        std::span<const std::byte> pattern);

inline constexpr std::size_t kPoisons = 5;

/// The poison of a shape's run number `run`: any kPoisons runs in a row meet all of them.
[[nodiscard]] Poison poison_of_run(std::size_t run);

}  // namespace evo
