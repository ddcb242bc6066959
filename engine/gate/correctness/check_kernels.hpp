#pragma once

#include <string>

#include "engine/device/device.hpp"

namespace evo {

/// The text of check_kernels.cu, whose kernels DeviceWork launches. Any CUDA compiler can compile
/// it; it has no includes.
[[nodiscard]] const std::string& check_kernels_source();

/// The name of one of its kernels, which a compiler can be asked for. The other kernels are
/// compiled with it.
inline constexpr const char* kCheckKernelsEntry = "evo_compare_elements";

/// Whether a session on this device uses the check kernels. Real cards do; for an interpreted
/// device, checks on the host are faster.
[[nodiscard]] inline bool takes_check_kernels(const DeviceInfo& device) {
  return device.id.starts_with("cuda:");
}

}  // namespace evo
