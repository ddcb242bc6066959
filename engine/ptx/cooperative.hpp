#pragma once

#include <string_view>

namespace evo {

/// True if `entry`, or a function in `ptx` that `entry` may call, reads %envreg1 or %envreg2, which
/// hold the address of the grid's workspace. A kernel that reads %envreg1 or %envreg2 synchronises
/// its CTAs with grid.sync() of cooperative groups and needs a cooperative launch.
[[nodiscard]] bool is_cooperative(std::string_view ptx, std::string_view entry);

}  // namespace evo
