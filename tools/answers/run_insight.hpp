#pragma once

#include "db/store.hpp"
#include "engine/evolve/insight.hpp"
#include "engine/space/space.hpp"

namespace evo {

/// The search space that the run used. Throws SpaceError if the stored space cannot be read, for
/// example because it is of another format version.
[[nodiscard]] Space space_of(const StoredRun& run);

/// Computes from the run's candidates how each macro affects the time.
[[nodiscard]] Insight insight_of(const Store& store, const StoredRun& run, const Space& space);

}  // namespace evo
