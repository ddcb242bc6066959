#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace evo {

/// Bytes of guard zone on each side of a buffer, on devices that do not catch stray accesses. A
/// multiple of 256, so that the buffer keeps the alignment of the allocation.
inline constexpr std::size_t kGuardBytes = 4096;

/// The intact content of a guard zone. The pattern reads as NaN in every floating-point format of
/// the project, so that a kernel that reads past a tail without masking poisons its own result.
[[nodiscard]] std::vector<std::byte> guard_pattern();

/// Describes the overwritten bytes; nullopt if there are none. `before` and `after` are the zones
/// as found; `buffer` names the buffer and `bytes` gives its size for the message.
[[nodiscard]] std::optional<std::string> find_guard_damage(const std::string& buffer,
                                                           std::size_t bytes,
                                                           std::span<const std::byte> before,
                                                           std::span<const std::byte> after);

/// The wording: the distance of the first damaged byte past the end, or before the start (from 1).
/// Damage past the end is reported first.
[[nodiscard]] std::optional<std::string> guard_damage_text(const std::string& buffer,
                                                           std::size_t bytes,
                                                           std::optional<std::size_t> past_end,
                                                           std::optional<std::size_t> before_start);

}  // namespace evo
