#pragma once

#include <string>

#include "engine/device/device.hpp"

namespace evo {

/// The limits of shared memory and threads per CTA that all devices of an architecture ("sm_89")
/// share (CUDA programming guide, technical specifications per compute capability). With
/// arch_limits(), the resource gate can check a kernel on a machine without any device. An
/// architecture below sm_90 that arch_limits.cpp does not list gets 48 KiB of shared memory, the
/// limit without opt-in.
/// Throws InputError if `arch` is not "sm_" and a number, which one letter may follow.
[[nodiscard]] DeviceInfo arch_limits(const std::string& arch);

/// The architecture for which the kernels of a search space are compiled: `device_arch`, or its
/// variant ("sm_90a", with instructions that sm_90 lacks) if `space_arch` is that variant.
/// Throws InputError if `space_arch` is a variant of another architecture, because code for a
/// variant runs only on its own architecture (CUDA programming guide, architecture-specific
/// features).
[[nodiscard]] std::string compile_arch(const std::string& device_arch,
                                       const std::string& space_arch);

}  // namespace evo
