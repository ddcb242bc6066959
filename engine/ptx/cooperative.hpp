#pragma once

#include <string_view>

namespace evo {

/// Whether `entry` of this PTX, or a function beside it that it may call, reads the address of the
/// grid's workspace (%envreg1, %envreg2): its CTAs wait for each other, by grid.sync() of
/// cooperative groups, and it needs a cooperative launch.
[[nodiscard]] bool is_cooperative(std::string_view ptx, std::string_view entry);

}  // namespace evo
