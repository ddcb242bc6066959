#pragma once

#include <string>
#include <vector>

#include "engine/core/error.hpp"
#include "engine/evolve/replay_study.hpp"

namespace evo {

/// What evo-replay's command line says.
struct ReplayOptions {
  std::vector<std::string> recorded;
  std::vector<std::string> predictions;  ///< one for each recording
  std::string strategy = "full";
  bool shuffle_predictions = false;
  StudyOptions study;
  bool json = false;
};

/// Searches the recorded spaces and prints how close the strategy came to their optimum. Throws
/// InputError.
[[nodiscard]] ExitCode replay(const ReplayOptions& options);

}  // namespace evo
