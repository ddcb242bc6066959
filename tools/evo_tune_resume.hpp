#pragma once

#include <string>
#include <vector>

#include "db/store.hpp"

namespace evo {

/// What --resume asks for.
struct Resumption {
  RunId id = 0;                    ///< 0: the newest unfinished run on the same inputs
  std::string db;                  ///< the database, for messages
  std::vector<std::string> given;  ///< the options on the command line, "--seed"
};

/// The run to continue, taken over. Throws InputError when there is none, or when space, problem,
/// shape, device or an option that was given is not the run's own; the run stays as it was then.
[[nodiscard]] StoredRun resumed_run(Store& store, const RunInfo& like,
                                    const Resumption& resumption);

/// The evaluations of a run without the texts that going on with it does not need.
[[nodiscard]] std::vector<StoredEvaluation> recorded_history(const Store& store, RunId run);

}  // namespace evo
