#pragma once

#include <string>

#include "engine/device/device.hpp"

namespace evo {

/// What is known of every device of an architecture ("sm_89") without having one: shared memory and
/// threads per CTA (CUDA programming guide, technical specifications per compute capability). For
/// judging without a device. Throws InputError for another form of name.
[[nodiscard]] DeviceInfo arch_limits(const std::string& arch);

}  // namespace evo
