#include "engine/device/guard.hpp"

namespace evo {

std::vector<std::byte> guard_pattern() {
  // FF 7F repeated: f16 and bf16 0x7FFF, f32 0x7FFF7FFF, f64 likewise, e4m3 0xFF and 0x7F: all NaN.
  std::vector<std::byte> pattern(kGuardBytes);
  for (std::size_t i = 0; i < kGuardBytes; ++i) pattern[i] = std::byte(i % 2 == 0 ? 0xff : 0x7f);
  return pattern;
}

std::optional<std::string> find_guard_damage(const std::string& buffer, std::size_t bytes,
                                             std::span<const std::byte> before,
                                             std::span<const std::byte> after) {
  const std::vector<std::byte> pattern = guard_pattern();
  const std::string head =
      "wrote outside buffer '" + buffer + "' (" + std::to_string(bytes) + " bytes): first damage ";
  for (std::size_t i = 0; i < after.size(); ++i) {
    if (after[i] != pattern[i]) return head + std::to_string(i) + " bytes past its end";
  }
  for (std::size_t i = before.size(); i > 0; --i) {
    if (before[i - 1] != pattern[i - 1]) {
      return head + std::to_string(before.size() - i + 1) + " bytes before its start";
    }
  }
  return std::nullopt;
}

}  // namespace evo
