#pragma once

#include <string>

#include "engine/device/device.hpp"

namespace evo {

/// The source text of check_numbers.cu followed by check_kernels.cu, whose kernels DeviceWork
/// launches. Any CUDA compiler can compile this text, because it includes no files.
[[nodiscard]] const std::string& check_kernels_source();

/// The entry that a compile request for check_kernels_source() must name. The compiled image holds
/// all kernels of the source.
inline constexpr const char* kCheckKernelsEntry = "evo_compare_elements";

/// Whether outputs on `device` are checked by the kernels of check_kernels.cu, as on a GPU. For a
/// virtual GPU, checks by host code are faster than interpreted kernels.
[[nodiscard]] inline bool takes_check_kernels(const DeviceInfo& device) {
  return device.id.starts_with("cuda:");
}

}  // namespace evo
