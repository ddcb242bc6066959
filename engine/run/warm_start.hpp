#pragma once

#include <cstddef>
#include <vector>

#include "db/store.hpp"
#include "engine/evaluate/workbench.hpp"
#include "engine/run/tuner_options.hpp"

namespace evo {

/// Configurations from earlier runs in the database on the same template of the same problem, for
/// other shapes, devices or versions of the space. The best of each run come first; runs on nearer
/// shapes (by the logarithms of their variables) and on the same device come before others. Only
/// configurations that the space allows on a shape of the task are returned. Unknown macros are
/// dropped, and missing ones get their defaults. At most `most`.
[[nodiscard]] std::vector<KnownCandidate> find_known(const Store& store, const TuningTask& task,
                                                     std::size_t most);

}  // namespace evo
