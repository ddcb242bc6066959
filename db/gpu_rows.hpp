#pragma once

#include <optional>
#include <vector>

#include "db/records.hpp"

namespace evo {

class Connection;

// Rows about a candidate: the state of the GPU while it was timed, the energy of a launch, and the
// result of the profile gate. The candidate must not be a duplicate, because only the first
// candidate with a kernel is measured.

void insert_gpu_state(Connection& db, CandidateId candidate, const GpuState& state);
/// Replaces an earlier energy with the same `complete`. `complete`: true for the long measurement,
/// which members of the elite get; false for the short measurement, which the search uses.
void replace_energy(Connection& db, CandidateId candidate, bool complete, const Energy& energy);
void replace_profile(Connection& db, CandidateId candidate, const ProfileRecord& profile);

[[nodiscard]] std::optional<GpuState> find_gpu_state(Connection& db, CandidateId candidate);
[[nodiscard]] std::optional<Energy> find_energy(Connection& db, CandidateId candidate,
                                                bool complete);
[[nodiscard]] std::optional<ProfileRecord> find_profile(Connection& db, CandidateId candidate);

/// Returns the stored states of the GPU, one for each measured timing of a run during which the
/// driver was queried, in the order of the candidates' ids.
[[nodiscard]] std::vector<GpuState> gpu_states(Connection& db, RunId run);

}  // namespace evo
