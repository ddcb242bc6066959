#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "engine/device/device.hpp"

namespace evo {

/// The device that the name "auto" selects on a machine without a CUDA GPU.
inline constexpr std::string_view kDefaultVirtualDevice = "virtual:l4";

/// Opens a device by its name on the command line: "cuda:N", "virtual:NAME", or "auto". "auto" is
/// the first CUDA GPU or, if there is none, the default virtual device. Throws InputError for an
/// invalid name, and MissingError if the device or its driver is missing, or if a GPU exists but
/// cannot be used. Only worker processes may call open_device().
[[nodiscard]] std::unique_ptr<Device> open_device(const std::string& id);

}  // namespace evo
