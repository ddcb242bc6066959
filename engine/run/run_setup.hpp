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
  /// A search begins with the best of earlier runs (find_known).
  bool warm_start = false;
  /// Of runs over several shapes: what only they have in common.
  std::string group = {};
};

/// What --resume asks for.
struct Resumption {
  RunId id = 0;                    ///< 0: the newest unfinished run on the same inputs
  std::string db;                  ///< the database, for messages
  std::vector<std::string> given;  ///< the options on the command line, "--seed"
};

/// A run that the database knows and this process owns: a row for each shape.
struct OpenRun {
  std::vector<RunId> ids;
  TunerOptions tuner;
  std::vector<RunHistory> histories = {};

  /// Evaluations that are kept, of the shape with most.
  [[nodiscard]] std::size_t kept() const;
};

/// A new one. Throws InputError for a strategy that does not exist.
[[nodiscard]] OpenRun begin_run(Store& store, const Workbench& bench, const RunRequest& request);

/// The run to continue, taken over with its own seed, strategy, sizes and check seed, and its own
/// number of generations unless another one is given: so a finished run can be extended. Throws
/// InputError when there is none, or when space, problem, shape, device or an option that was given
/// is not the run's own; the run stays as it was then.
[[nodiscard]] OpenRun continue_run(Store& store, Workbench& bench, const RunRequest& request,
                                   const Resumption& resumption);

}  // namespace evo
