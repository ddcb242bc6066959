#pragma once

#include <string>

#include "engine/device/device.hpp"

namespace evo {

/// The properties that all devices of an architecture ("sm_89") share: shared memory and threads
/// per CTA (CUDA programming guide, technical specifications per compute capability). With
/// arch_limits(), kernels can be judged without a device. Throws InputError for an invalid name.
[[nodiscard]] DeviceInfo arch_limits(const std::string& arch);

/// The architecture for which a space's kernels are compiled: that of the device, or its variant
/// ("sm_90a", with instructions that sm_90 lacks) if `space_arch` is that variant. Throws
/// InputError if the space is written for a variant of another architecture, because code for a
/// variant runs only on its own architecture (CUDA programming guide, architecture-specific
/// features).
[[nodiscard]] std::string compile_arch(const std::string& device_arch,
                                       const std::string& space_arch);

}  // namespace evo
