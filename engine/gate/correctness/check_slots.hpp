#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "engine/gate/correctness/compare.hpp"

namespace evo {

/// What a kernel of check_kernels.cu leaves behind: words whose meaning is the kernel's. Filled
/// with ones before it runs; on the host with zeros until it has arrived.
inline constexpr std::size_t kSlotWords = 32;
inline constexpr std::size_t kSlotBytes = kSlotWords * sizeof(std::uint64_t);
inline constexpr std::byte kEmptySlot{0xff};
using SlotWords = std::span<const std::uint64_t, kSlotWords>;

/// The kernel has run.
[[nodiscard]] inline bool is_done(SlotWords slot) { return slot[kSlotWords - 1] == 1; }

/// The figures that evo_compare_finish leaves. `elements`: their number, above 0.
[[nodiscard]] Comparison comparison_in(SlotWords slot, Dtype dtype, std::size_t elements);

/// What evo_first_difference leaves.
[[nodiscard]] std::optional<std::size_t> difference_in(SlotWords slot);

/// What evo_guard_zones leaves of a buffer.
[[nodiscard]] std::optional<std::string> guard_damage_in(SlotWords slot, const std::string& buffer,
                                                         std::size_t bytes);

/// What evo_fingerprint leaves, and evo_first_difference of what is kept.
[[nodiscard]] std::uint64_t fingerprint_in(SlotWords slot);

}  // namespace evo
