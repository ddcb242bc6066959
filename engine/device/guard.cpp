#include "engine/device/guard.hpp"

namespace evo {

const std::vector<std::byte>& guard_pattern() {
  // The bytes FF 7F, repeated, are NaN in all types: 0x7FFF in f16 and bf16, 0x7FFF7FFF in f32,
  // 0x7FFF7FFF7FFF7FFF in f64, and both 0xFF and 0x7F in e4m3.
  static const std::vector<std::byte> pattern = [] {
    std::vector<std::byte> bytes(kGuardBytes);
    for (std::size_t i = 0; i < kGuardBytes; ++i) bytes[i] = std::byte(i % 2 == 0 ? 0xff : 0x7f);
    return bytes;
  }();
  return pattern;
}

std::optional<std::string> guard_violation_text(const std::string& buffer, std::size_t bytes,
                                                std::optional<std::size_t> past_end,
                                                std::optional<std::size_t> before_start) {
  const std::string head =
      "wrote outside buffer '" + buffer + "' (" + std::to_string(bytes) + " bytes): first byte ";
  if (past_end) return head + std::to_string(*past_end) + " bytes past its end";
  if (before_start) return head + std::to_string(*before_start) + " bytes before its start";
  return std::nullopt;
}

std::optional<std::string> find_guard_violation(const std::string& buffer, std::size_t bytes,
                                                std::span<const std::byte> before,
                                                std::span<const std::byte> after) {
  const std::vector<std::byte>& pattern = guard_pattern();
  std::optional<std::size_t> past_end;
  std::optional<std::size_t> before_start;
  for (std::size_t i = 0; i < after.size() && !past_end; ++i) {
    if (after[i] != pattern[i]) past_end = i;
  }
  for (std::size_t i = before.size(); i > 0 && !before_start; --i) {
    if (before[i - 1] != pattern[i - 1]) before_start = before.size() - i + 1;
  }
  return guard_violation_text(buffer, bytes, past_end, before_start);
}

}  // namespace evo
