#pragma once

#include <string>
#include <vector>

namespace evo {

/// The names of the devices in the value of --device: "cuda:0,cuda:2" has two devices,
/// "virtual:l4*4" four virtual GPUs, "cuda:all" every GPU that the driver reports, "none" no
/// device; any other value is one name.
/// Throws InputError for an empty name, an invalid number, a repeated GPU, or "auto", "none" or
/// "cuda:all" beside other devices, and MissingError if "cuda:all" finds no GPU.
[[nodiscard]] std::vector<std::string> device_ids(const std::string& option);

}  // namespace evo
