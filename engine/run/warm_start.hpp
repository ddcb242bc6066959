#pragma once

#include <cstddef>
#include <vector>

#include "db/store.hpp"
#include "engine/evaluate/workbench.hpp"
#include "engine/run/tuner_options.hpp"

namespace evo {

/// Finds configurations of earlier runs in the database on the same template of the same problem,
/// for other shapes, devices or versions of the space. The best configurations of each run come
/// first. Runs on nearer shapes (by the logarithms of their variables) and on the same device
/// precede other runs. Only configurations that the space allows on a shape of the task are
/// returned, at most `most`. Unknown macros are dropped, and missing macros get their defaults.
[[nodiscard]] std::vector<KnownCandidate> find_known(const Store& store, const TuningTask& task,
                                                     std::size_t most);

}  // namespace evo
