#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "engine/gate/correctness/compare.hpp"

namespace evo {

/// Number of 64-bit words in a slot, which holds the result of a kernel of check_kernels.cu. The
/// meaning of a slot's words depends on the kernel. Before the kernel runs, all bits of its slot in
/// device memory are 1; until the result arrives, the copy of the slot on the host is zero.
inline constexpr std::size_t kSlotWords = 32;
inline constexpr std::size_t kSlotBytes = kSlotWords * sizeof(std::uint64_t);
inline constexpr std::byte kEmptySlot{0xff};
using SlotWords = std::span<const std::uint64_t, kSlotWords>;

/// Whether the kernel that writes this slot has run.
[[nodiscard]] inline bool is_done(SlotWords slot) { return slot[kSlotWords - 1] == 1; }

/// The result of evo_compare_finish. `elements`: number of compared elements, above 0.
[[nodiscard]] Comparison comparison_in(SlotWords slot, Dtype dtype, std::size_t elements);

/// The result of evo_first_difference: the index of a byte, or nullopt if all bytes are equal.
[[nodiscard]] std::optional<std::size_t> difference_in(SlotWords slot);

/// The result of evo_guard_zones for a buffer of `bytes` bytes: a description of the violation, or
/// nullopt if there is none.
[[nodiscard]] std::optional<std::string> guard_violation_in(SlotWords slot,
                                                            const std::string& buffer,
                                                            std::size_t bytes);

/// Returns the fingerprint that evo_fingerprint or evo_first_difference has written to a slot.
[[nodiscard]] std::uint64_t fingerprint_in(SlotWords slot);

}  // namespace evo
