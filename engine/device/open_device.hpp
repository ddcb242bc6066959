#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "engine/device/device.hpp"

namespace evo {

/// The device for "auto" on a machine without a CUDA GPU.
inline constexpr std::string_view kDefaultVirtualDevice = "virtual:l4";

/// Opens a device by its name on the command line: "cuda:N", "virtual:NAME", or "auto" for the
/// first CUDA GPU, or the default virtual device if there is no GPU. A GPU that is present but
/// unusable is an error with an explanation. Throws InputError for an invalid name and MissingError
/// if the device or its driver is missing. Call it only in a worker process.
[[nodiscard]] std::unique_ptr<Device> open_device(const std::string& id);

}  // namespace evo
