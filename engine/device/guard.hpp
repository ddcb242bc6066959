#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace evo {

/// Bytes of guard zone on each side of a buffer on devices that cannot catch a stray access
/// themselves. A multiple of 256, so that the buffer keeps the allocation's alignment.
inline constexpr std::size_t kGuardBytes = 4096;

/// One guard zone as it should be. The pattern reads as NaN in every floating-point format of the
/// project, so that a kernel that reads past a tail without masking poisons its own result.
[[nodiscard]] std::vector<std::byte> guard_pattern();

/// What was overwritten, or nothing. `before` and `after` are the zones as found, `buffer` names
/// the buffer and `bytes` its size, for the message.
[[nodiscard]] std::optional<std::string> find_guard_damage(const std::string& buffer,
                                                           std::size_t bytes,
                                                           std::span<const std::byte> before,
                                                           std::span<const std::byte> after);

/// The words for it: how many bytes past the end, or before the start (from 1), the first damage
/// is; past the end goes first.
[[nodiscard]] std::optional<std::string> guard_damage_text(const std::string& buffer,
                                                           std::size_t bytes,
                                                           std::optional<std::size_t> past_end,
                                                           std::optional<std::size_t> before_start);

}  // namespace evo
