#pragma once

#include <cstddef>
#include <vector>

#include "db/store.hpp"
#include "engine/evaluate/workbench.hpp"
#include "engine/run/tuner_options.hpp"

namespace evo {

/// Finds the elites of earlier runs, among the 64 newest runs in the database, on the same template
/// of the same problem, also for other shapes, devices or versions of the space. Returns at most
/// `most` configurations that the task's space allows on at least one of its shapes: first the best
/// allowed configuration of each run, then the second-best, and so on; within a rank, first those
/// from runs on the most similar shapes (by the logarithms of the shape variables), and among
/// equally similar shapes, first those from the same device. Macros that the task's space lacks are
/// dropped, and macros that an earlier configuration lacks get their defaults.
[[nodiscard]] std::vector<KnownCandidate> find_known(const Store& store, const TuningTask& task,
                                                     std::size_t most);

}  // namespace evo
