#pragma once

#include <optional>
#include <span>

namespace evo {

/// Runs the role that the command line of evo-worker names, such as `compile` or `device ID`, and
/// returns the exit code; nullopt if the command line names no role.
[[nodiscard]] std::optional<int> serve_role(std::span<char* const> arguments);

}  // namespace evo
