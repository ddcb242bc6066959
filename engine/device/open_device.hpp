#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "engine/device/device.hpp"

namespace evo {

/// What "auto" means on a machine without a CUDA GPU.
inline constexpr std::string_view kDefaultVirtualDevice = "virtual:l4";

/// Opens a device by the name given on the command line: "cuda:N", "virtual:NAME", or "auto" for
/// the first CUDA GPU and the default virtual device where there is none: a GPU that is there and
/// cannot be used is an error that says so. Throws InputError for a name of another form and
/// MissingError when the device or its driver is not there. Call it in a worker process only.
[[nodiscard]] std::unique_ptr<Device> open_device(const std::string& id);

}  // namespace evo
