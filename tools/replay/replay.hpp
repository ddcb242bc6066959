#pragma once

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

/// Runs the strategy on each recorded space, and prints a table or JSON lines. Throws InputError.
[[nodiscard]] ExitCode replay(const ReplayOptions& options);

}  // namespace evo
