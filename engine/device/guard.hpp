#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace evo {

/// Bytes of the guard zone on each side of a buffer, on devices that do not detect accesses outside
/// of buffers. The size of a guard zone is a multiple of 256, so that a buffer has the same
/// alignment as the allocation that contains it.
inline constexpr std::size_t kGuardBytes = 4096;

/// The content of an intact guard zone: NaN in every floating-point type of problem files, so
/// that a kernel that reads past the end of a buffer gets NaN.
[[nodiscard]] const std::vector<std::byte>& guard_pattern();

/// Describes the overwritten bytes of guard zones; nullopt if the zones are intact. `before` and
/// `after`: the content of the zones before and after the buffer. `buffer` and `bytes`: the
/// buffer's name and size, for the message.
[[nodiscard]] std::optional<std::string> find_guard_violation(const std::string& buffer,
                                                              std::size_t bytes,
                                                              std::span<const std::byte> before,
                                                              std::span<const std::byte> after);

/// The message about a overwritten byte that is `past_end` bytes past a buffer's end (0: the first
/// byte after the buffer) or `before_start` bytes before its start (1: the last byte before the
/// buffer). If both `past_end` and `before_start` are given, the message names the violation past
/// the buffer's end. Returns nullopt if `past_end` and `before_start` are nullopt.
[[nodiscard]] std::optional<std::string> guard_violation_text(
    const std::string& buffer, std::size_t bytes, std::optional<std::size_t> past_end,
    std::optional<std::size_t> before_start);

}  // namespace evo
