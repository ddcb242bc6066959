#pragma once

#include <CLI/CLI.hpp>

#include "engine/core/error.hpp"

namespace evo {

/// Adds "evo-tune doctor" to the command line; its option --json sets `json`.
void declare_doctor(CLI::App& app, bool& json);

/// Examines this machine and prints the findings. Returns kMissing if a default run would fail.
[[nodiscard]] ExitCode run_doctor(bool json);

}  // namespace evo
