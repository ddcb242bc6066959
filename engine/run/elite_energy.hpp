#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/evaluate/workbench.hpp"
#include "engine/run/elite.hpp"

namespace evo {

/// Measures and stores the energy of a launch of each member on a timed shape, but of those in
/// `known`. Empty, or a line for people why there is one without. Nothing is done on a device that
/// does not count it.
[[nodiscard]] std::string measure_elite_energy(Workbench& bench, RunStore& store,
                                               const std::vector<EliteMember>& elite,
                                               const std::vector<CandidateId>& known,
                                               std::size_t at = 0);

}  // namespace evo
