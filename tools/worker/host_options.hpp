#pragma once

#include <optional>
#include <span>

#include "engine/worker/agent.hpp"

namespace evo {

/// The command lines that provide workers to a run on another host:
///
///     evo-worker device [ID[,ID…]] --connect HOST:PORT [--key-stdin]
///     evo-worker compile --connect HOST:PORT [--jobs N|all] [--key-stdin]
///     evo-worker host --connect HOST:PORT [--device ID[,ID…]] [--jobs N|all] [--key-stdin]
///
/// Returns nullopt for other command lines. Throws InputError if a command line with --connect has
/// a mistake. The key of the run comes from the environment or, with --key-stdin, from standard
/// input.
[[nodiscard]] std::optional<AgentOptions> worker_host_options(std::span<char* const> arguments);

}  // namespace evo
