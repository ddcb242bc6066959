#pragma once

#include <string>

#include "engine/device/device.hpp"

namespace evo {

/// The text of check_kernels.cu, which DeviceWork launches: any CUDA compiler's input, without
/// includes.
[[nodiscard]] const std::string& check_kernels_source();

/// One of its kernels: what a compiler may be asked for by name. The others come with it.
inline constexpr const char* kCheckKernelsEntry = "evo_compare_elements";

/// Whether a session on this device takes check kernels: real cards do. On a device that interprets
/// the host is faster.
[[nodiscard]] inline bool takes_check_kernels(const DeviceInfo& device) {
  return device.id.starts_with("cuda:");
}

}  // namespace evo
