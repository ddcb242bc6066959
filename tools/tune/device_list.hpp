#pragma once

#include <string>
#include <vector>

namespace evo {

/// The devices that a --device option names: "cuda:0,cuda:2" two, "virtual:l4*4" four of a kind,
/// "cuda:all" every GPU that the driver shows, "none" none; any other name stands for itself.
/// Throws InputError for an empty name, a number that is none, or a GPU that is named twice, and
/// MissingError where "cuda:all" finds no GPU.
[[nodiscard]] std::vector<std::string> device_ids(const std::string& option);

}  // namespace evo
