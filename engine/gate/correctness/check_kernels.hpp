#pragma once

#include <string>

#include "engine/device/device.hpp"

namespace evo {

/// The text of check_kernels.cu, whose kernels DeviceWork launches. Any CUDA compiler can compile
/// the text, because it includes no files.
[[nodiscard]] const std::string& check_kernels_source();

/// The entry to request when check_kernels_source() is compiled. The compiler also keeps the other
/// kernels of the text.
inline constexpr const char* kCheckKernelsEntry = "evo_compare_elements";

/// Whether a session on `device` checks outputs by kernels. On real cards, kernels check outputs;
/// on an interpreted device, checks on the host are faster.
[[nodiscard]] inline bool takes_check_kernels(const DeviceInfo& device) {
  return device.id.starts_with("cuda:");
}

}  // namespace evo
