#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace evo {

/// Bytes of the guard zone on each side of a buffer, on devices that do not detect accesses outside
/// of buffers. A multiple of 256, so that the buffer has the alignment of the allocation.
inline constexpr std::size_t kGuardBytes = 4096;

/// The intact content of a guard zone, which is NaN in every floating-point type of problem files,
/// so that a kernel that reads past the end of a buffer spoils its own result.
[[nodiscard]] std::vector<std::byte> guard_pattern();

/// Describes the overwritten bytes of guard zones; nullopt if the zones are intact. `before` and
/// `after`: the content of the zones. `buffer` and `bytes`: the buffer's name and size, for the
/// message.
[[nodiscard]] std::optional<std::string> find_guard_damage(const std::string& buffer,
                                                           std::size_t bytes,
                                                           std::span<const std::byte> before,
                                                           std::span<const std::byte> after);

/// The message about a damaged byte at this distance (from 1) past the buffer's end or before its
/// start. Damage past the end takes precedence. Nullopt if there is no damage.
[[nodiscard]] std::optional<std::string> guard_damage_text(const std::string& buffer,
                                                           std::size_t bytes,
                                                           std::optional<std::size_t> past_end,
                                                           std::optional<std::size_t> before_start);

}  // namespace evo
