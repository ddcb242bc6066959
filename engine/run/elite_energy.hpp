#pragma once

#include <string>
#include <vector>

#include "engine/evaluate/workbench.hpp"
#include "engine/run/elite.hpp"

namespace evo {

/// Measures and stores the energy per launch of each member of the elite on the timed shape number
/// `at`, except the members in `known`. If the energy of a member cannot be measured, stops and
/// returns a line for users, otherwise returns an empty text. Does nothing on a device without an
/// energy counter.
[[nodiscard]] std::string measure_elite_energy(Workbench& bench, RunStore& store,
                                               const std::vector<EliteMember>& elite,
                                               const std::vector<CandidateId>& known,
                                               std::size_t at);

}  // namespace evo
