#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/evaluate/workbench.hpp"
#include "engine/run/elite.hpp"

namespace evo {

/// Measures and stores the energy per launch of each member on a timed shape, except of the members
/// in `known`. Returns an empty text, or a line for users if the energy of a member is unknown.
/// Does nothing on a device without an energy counter.
[[nodiscard]] std::string measure_elite_energy(Workbench& bench, RunStore& store,
                                               const std::vector<EliteMember>& elite,
                                               const std::vector<CandidateId>& known,
                                               std::size_t at = 0);

}  // namespace evo
