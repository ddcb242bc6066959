#pragma once

#include <string>
#include <vector>

#include "db/store.hpp"
#include "engine/evaluate/workbench.hpp"
#include "engine/run/tuner.hpp"

namespace evo {

/// The request for a run, beside the task and devices of its workbench.
struct RunRequest {
  TunerOptions tuner;
  std::uint64_t check_seed = 0;
  bool cold = false;
  std::string evo_version;
  /// The search starts with the best of earlier runs (find_known).
  bool warm_start = false;
  /// For runs over several shapes: their common settings.
  std::string group = {};
};

/// The arguments of --resume.
struct Resumption {
  RunId id = 0;                    ///< 0: the newest unfinished run on the same inputs
  std::string db;                  ///< path of the database, for messages
  std::vector<std::string> given;  ///< the options given on the command line, for example "--seed"
};

/// A run in the database that this process owns: one row for each shape.
struct OpenRun {
  std::vector<RunId> ids;
  TunerOptions tuner;
  std::vector<RunHistory> histories = {};

  /// Number of stored evaluations, on the shape with the most.
  [[nodiscard]] std::size_t kept() const;
};

/// Creates a new run. Throws InputError for an unknown strategy.
[[nodiscard]] OpenRun begin_run(Store& store, const Workbench& bench, const RunRequest& request);

/// Takes over the run to continue, with its own seed, strategy, sizes and check seed. The number of
/// generations is also its own unless another one is given, so that a finished run can be extended.
/// Throws InputError if there is no such run, or if space, problem, shape, device or a given option
/// differs from the run's; the stored run then does not change.
[[nodiscard]] OpenRun continue_run(Store& store, Workbench& bench, const RunRequest& request,
                                   const Resumption& resumption);

}  // namespace evo
