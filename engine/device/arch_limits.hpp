#pragma once

#include <string>

#include "engine/device/device.hpp"

namespace evo {

/// What is known of every device of an architecture ("sm_89") without having one: shared memory and
/// threads per CTA (CUDA programming guide, technical specifications per compute capability). For
/// judging without a device. Throws InputError for another form of name.
[[nodiscard]] DeviceInfo arch_limits(const std::string& arch);

/// What to compile a space's kernels for: the device's architecture, in its own variant ("sm_90a",
/// with instructions that sm_90 lacks) when the space is written for that. Throws InputError when
/// the space is written for a variant of another architecture: such code runs on exactly its own
/// (CUDA programming guide, architecture-specific features).
[[nodiscard]] std::string compile_arch(const std::string& device_arch,
                                       const std::string& space_arch);

}  // namespace evo
