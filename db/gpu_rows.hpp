#pragma once

#include <optional>
#include <string>
#include <vector>

#include "db/records.hpp"

namespace evo {

class Connection;

// Rows about the GPU during a timing. The candidate must not be a duplicate.

void insert_gpu_state(Connection& db, CandidateId candidate, const CardState& state);
/// Replaces an existing row. `complete`: from a long measurement, as for the elite.
void replace_energy(Connection& db, CandidateId candidate, bool complete, const Energy& energy);
void replace_profile(Connection& db, CandidateId candidate, const ProfileRecord& profile);

[[nodiscard]] std::optional<CardState> find_gpu_state(Connection& db, CandidateId candidate);
[[nodiscard]] std::optional<Energy> find_energy(Connection& db, CandidateId candidate,
                                                bool complete);
[[nodiscard]] std::optional<ProfileRecord> find_profile(Connection& db, CandidateId candidate);

/// Returns the states of the GPU during all timings of a run, in the order of the candidates.
[[nodiscard]] std::vector<CardState> gpu_states(Connection& db, RunId run);

}  // namespace evo
