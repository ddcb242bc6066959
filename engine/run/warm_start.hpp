#pragma once

#include <cstddef>
#include <vector>

#include "db/store.hpp"
#include "engine/evaluate/workbench.hpp"
#include "engine/run/tuner_options.hpp"

namespace evo {

/// What earlier runs in the database found with the same template of the same problem, for other
/// shapes, on other devices or in other versions of the space: the best of each first, runs on
/// nearer shapes (in the logarithms of their variables) and on the same device before others. Only
/// configurations that the space allows on a shape of the task; macros that it does not have are
/// left out, and those that the other space did not have are the defaults. At most `most`.
[[nodiscard]] std::vector<KnownCandidate> find_known(const Store& store, const TuningTask& task,
                                                     std::size_t most);

}  // namespace evo
