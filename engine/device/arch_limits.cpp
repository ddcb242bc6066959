#include "engine/device/arch_limits.hpp"

#include <charconv>

#include "engine/core/error.hpp"

namespace evo {
namespace {

constexpr int kKiB = 1024;

int shared_kib(int architecture) {
  switch (architecture) {
    case 70:
    case 72:
      return 96;
    case 75:
      return 64;
    case 80:
    case 87:
      return 163;
    case 86:
    case 89:
    case 120:
    case 121:
      return 99;
    default:
      return architecture >= 90 ? 227 : 48;
  }
}

}  // namespace

DeviceInfo arch_limits(const std::string& arch) {
  int number = 0;
  constexpr std::string_view kPrefix = "sm_";
  const char* end = arch.data() + arch.size();
  const auto parsed = arch.starts_with(kPrefix)
                          ? std::from_chars(arch.data() + kPrefix.size(), end, number)
                          : std::from_chars_result{arch.data(), std::errc::invalid_argument};
  // In the name of an architecture, a letter may follow the number, as in sm_90a.
  if (parsed.ec != std::errc() || end - parsed.ptr > 1) {
    throw InputError("unknown architecture '" + arch + "'; allowed: sm_NN, such as sm_89");
  }
  DeviceInfo info;
  info.id = "none";
  info.name = arch;
  info.arch = arch;
  info.sm_count = 1;
  info.max_shared_bytes_per_cta = shared_kib(number) * kKiB;
  return info;
}

std::string compile_arch(const std::string& device_arch, const std::string& space_arch) {
  constexpr std::string_view kDigits = "0123456789";
  const std::size_t last_digit = space_arch.find_last_of(kDigits);
  const std::string base = space_arch.substr(0, last_digit + 1);
  if (base == space_arch) return device_arch;
  if (base == device_arch || space_arch == device_arch) return space_arch;
  throw InputError("a space for " + space_arch + " runs on devices of exactly " + base +
                   "; this one is " + device_arch);
}

}  // namespace evo
