#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "engine/device/device.hpp"

namespace evo {

/// The device that the name "auto" selects on a machine without a CUDA GPU.
inline constexpr std::string_view kDefaultVirtualDevice = "virtual:l4";

/// The names that open_device() accepts, for help texts and messages.
inline constexpr std::string_view kDeviceNames = "auto, cuda:N, virtual:NAME";

/// Opens a device by its name on the command line: "cuda:N", "virtual:NAME", or "auto". "auto" is
/// the first CUDA GPU or, if there is none, the default virtual device. Throws InputError for an
/// invalid name, and MissingError if the device or its driver is missing, or if a GPU exists but
/// cannot be used. Among the programs for users, only evo-worker calls open_device(), because a
/// device may crash or hang its process; benchmarks and tests call it directly.
[[nodiscard]] std::unique_ptr<Device> open_device(const std::string& id);

}  // namespace evo
