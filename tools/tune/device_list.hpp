#pragma once

#include <string>
#include <vector>

namespace evo {

/// The devices named by a --device option: "cuda:0,cuda:2" two devices, "virtual:l4*4" four of one
/// kind, "cuda:all" every GPU that the driver reports, "none" no device; other names are kept.
/// Throws InputError for an empty name, an invalid number, or a repeated GPU, and MissingError if
/// "cuda:all" finds no GPU.
[[nodiscard]] std::vector<std::string> device_ids(const std::string& option);

}  // namespace evo
