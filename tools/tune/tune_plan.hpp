#pragma once

#include <optional>
#include <vector>

#include "engine/evaluate/builds.hpp"
#include "engine/evaluate/workbench.hpp"
#include "engine/run/run_info.hpp"
#include "tools/tune/tune_options.hpp"

namespace evo {

/// One of the searches of a command: it tunes for the shapes of one build.
struct PlannedSearch {
  ShapesOfBuild build;
  RunRequest request;                     ///< for new runs
  std::optional<Resumption> resume = {};  ///< set if the search continues stored runs
  std::vector<RunId> finished = {};       ///< the runs of a search that is not made again
};

/// Plans a search for each build of the shapes that `bench` names; `request` holds the settings
/// that the searches share. With --resume, continues the newest unfinished command that made the
/// same searches. If --resume names a run, only the search of this run continues. Throws
/// InputError, SpaceError or ProblemError if one of the searches cannot be made.
[[nodiscard]] std::vector<PlannedSearch> plan_searches(const Store& store,
                                                       const WorkbenchOptions& bench,
                                                       const DeviceInfo& device, RunRequest request,
                                                       const TuneOptions& options);

}  // namespace evo
