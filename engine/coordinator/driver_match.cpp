#include "engine/coordinator/driver_match.hpp"

#include <fmt/format.h>

#include <charconv>
#include <string_view>

#include "engine/core/error.hpp"

namespace evo {
namespace {

/// 12 of "CUDA driver 12.4", where `name` is what stands before the number; 0 for any other text.
int major_version(std::string_view text, std::string_view name) {
  if (!text.starts_with(name)) return 0;
  text.remove_prefix(name.size());
  int major = 0;
  std::from_chars(text.data(), text.data() + text.size(), major);
  return major;
}

}  // namespace

void require_driver_for(const std::string& compiler, const DeviceInfo& device) {
  const int of_compiler = major_version(compiler, "nvrtc ");
  const int of_driver = major_version(device.driver, "CUDA driver ");
  if (of_compiler == 0 || of_driver == 0 || of_compiler <= of_driver) return;
  throw MissingError(fmt::format(
      "{} of {} refuses the code of {}: update the driver, or let evo-tune compile with CUDA {}: "
      "./quickstart.sh fetches it, or\n"
      "  python3 -m pip install 'nvidia-cuda-nvrtc-cu{}' 'nvidia-cuda-runtime-cu{}'\n"
      "and name libnvrtc.so.{} of the first package in the environment variable EVO_NVRTC",
      device.driver, device.name, compiler, of_driver, of_driver, of_driver, of_driver));
}

}  // namespace evo
