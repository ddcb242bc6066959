#pragma once

#include <string>
#include <vector>

#include "db/store.hpp"
#include "engine/evaluate/workbench.hpp"
#include "engine/run/tuner.hpp"

namespace evo {

/// The settings of a run, except for the task and devices of its workbench.
struct RunRequest {
  TunerOptions tuner;
  std::uint64_t check_seed = 0;
  bool cold = false;
  std::string evo_version;
  /// Whether the search starts with the best candidates of earlier runs (find_known).
  bool warm_start = false;
  /// The name of the group of runs that a run over several shapes creates.
  std::string group = {};
};

/// The arguments of --resume.
struct Resumption {
  RunId id = 0;                    ///< 0: the newest unfinished run with the same subject
  std::string db;                  ///< path of the database, for messages
  std::vector<std::string> given;  ///< the options given on the command line, for example "--seed"
};

/// A run that this process executes: one run in the database for each shape.
struct OpenRun {
  std::vector<RunId> ids;
  TunerOptions tuner;
  std::vector<RunHistory> histories = {};

  /// Number of stored evaluations on the shape with the most.
  [[nodiscard]] std::size_t kept() const;
};

/// Creates a new run. Throws InputError for an unknown strategy.
[[nodiscard]] OpenRun begin_run(Store& store, const Workbench& bench, const RunRequest& request);

/// Opens the run to continue, with its stored seed, strategy, sizes and check seed. The stored
/// number of generations also applies unless the command line gives another, so that a finished run
/// can be extended. Throws InputError if there is no such run, or if space, problem, shape, device
/// or a given option differs from the stored run, which then does not change.
[[nodiscard]] OpenRun continue_run(Store& store, Workbench& bench, const RunRequest& request,
                                   const Resumption& resumption);

}  // namespace evo
