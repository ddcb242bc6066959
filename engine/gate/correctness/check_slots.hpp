#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "engine/gate/correctness/compare.hpp"

namespace evo {

/// The result of a kernel of check_kernels.cu; each kernel gives the words its own meaning. On the
/// device it is filled with ones before the kernel runs; on the host it is filled with zeros until
/// the result arrives.
inline constexpr std::size_t kSlotWords = 32;
inline constexpr std::size_t kSlotBytes = kSlotWords * sizeof(std::uint64_t);
inline constexpr std::byte kEmptySlot{0xff};
using SlotWords = std::span<const std::uint64_t, kSlotWords>;

/// Whether the kernel has run.
[[nodiscard]] inline bool is_done(SlotWords slot) { return slot[kSlotWords - 1] == 1; }

/// The result of evo_compare_finish. `elements`: number of elements, above 0.
[[nodiscard]] Comparison comparison_in(SlotWords slot, Dtype dtype, std::size_t elements);

/// The result of evo_first_difference.
[[nodiscard]] std::optional<std::size_t> difference_in(SlotWords slot);

/// The result of evo_guard_zones for a buffer.
[[nodiscard]] std::optional<std::string> guard_damage_in(SlotWords slot, const std::string& buffer,
                                                         std::size_t bytes);

/// The fingerprint from evo_fingerprint, and from evo_first_difference for the kept content.
[[nodiscard]] std::uint64_t fingerprint_in(SlotWords slot);

}  // namespace evo
