#pragma once

#include "db/store.hpp"
#include "engine/evolve/insight.hpp"
#include "engine/space/space.hpp"

namespace evo {

/// The space of a run, as it was then. Throws SpaceError if its text has another version.
[[nodiscard]] Space space_of(const StoredRun& run);

/// Findings about the macros from the run's evaluations.
[[nodiscard]] Insight insight_of(const Store& store, const StoredRun& run, const Space& space);

}  // namespace evo
