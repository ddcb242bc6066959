#pragma once

#include "db/store.hpp"
#include "engine/evolve/insight.hpp"
#include "engine/space/space.hpp"

namespace evo {

/// The space that a run was on, as it was then. Throws SpaceError for the text of another version.
[[nodiscard]] Space space_of(const StoredRun& run);

/// What the run's evaluations say about its knobs.
[[nodiscard]] Insight insight_of(const Store& store, const StoredRun& run, const Space& space);

}  // namespace evo
