#pragma once

#include <string_view>

namespace evo {

/// Whether `entry`, or a function in this PTX that it may call, reads the address of the grid's
/// workspace (%envreg1, %envreg2). Such a kernel synchronises its CTAs with cooperative groups'
/// grid.sync() and needs a cooperative launch.
[[nodiscard]] bool is_cooperative(std::string_view ptx, std::string_view entry);

}  // namespace evo
