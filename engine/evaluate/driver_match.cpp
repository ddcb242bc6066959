#include "engine/evaluate/driver_match.hpp"

#include <fmt/format.h>

#include <charconv>
#include <string_view>

#include "engine/core/error.hpp"

namespace evo {
namespace {

/// The number after `name` in a text such as "CUDA driver 12.4" (12) or "sm_89" (89); 0 for other
/// texts.
int leading_number(std::string_view text, std::string_view name) {
  if (!text.starts_with(name)) return 0;
  text.remove_prefix(name.size());
  int number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::string step_for(int of_driver, const DeviceInfo& device) {
  constexpr int kOldest = 12;
  if (of_driver < kOldest) return "update the driver to 525 (CUDA 12) or newer";
  // For drivers of CUDA 12, proposes CUDA 12.6, because ptxas of CUDA 12.8 and 12.9 crashes on some
  // kernels. For Blackwell GPUs, proposes CUDA 12.9, because CUDA 12.6 does not support them.
  // cmake/setup.sh has the same rule.
  constexpr int kBlackwell = 100;
  const bool is_new = leading_number(device.arch, "sm_") >= kBlackwell;
  const std::string version = fmt::format("{}.{}.*", of_driver,
                                          of_driver > kOldest ? 0
                                          : is_new            ? 9
                                                              : 6);
  const char* suffix = of_driver > kOldest ? "" : "-cu12";
  return fmt::format(
      "update the driver, or let evo-tune compile with CUDA {0}: ./quickstart.sh fetches it, or\n"
      "  python3 -m pip install 'nvidia-cuda-nvrtc{2}=={1}' 'nvidia-cuda-runtime{2}=={1}'\n"
      "and name libnvrtc.so.{0} of the first package in the environment variable EVO_NVRTC",
      of_driver, version, suffix);
}

}  // namespace

void require_driver_for(const std::string& compiler, const DeviceInfo& device) {
  const int of_compiler = leading_number(compiler, "nvrtc ");
  const int of_driver = leading_number(device.driver, "CUDA driver ");
  if (of_compiler == 0 || of_driver == 0 || of_compiler <= of_driver) return;
  throw MissingError(fmt::format("{} of {} refuses the code of {}\nnext step: {}", device.driver,
                                 device.name, compiler, step_for(of_driver, device)));
}

}  // namespace evo
