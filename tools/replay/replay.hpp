#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "engine/core/error.hpp"
#include "engine/study/replay_study.hpp"

namespace evo {

/// The command line of evo-replay.
struct ReplayOptions {
  std::vector<std::string> recorded;
  std::string strategy = "full";
  StudyOptions study;
  bool json = false;
};

/// Declares the options of a study, except the recorded spaces and the strategy.
void declare_study(CLI::App& app, StudyOptions& study);

/// Runs the strategy on each recorded space, and prints a table or JSON lines. Throws InputError.
[[nodiscard]] ExitCode replay(const ReplayOptions& options);

}  // namespace evo
