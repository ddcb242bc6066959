#pragma once

#include <optional>
#include <string>
#include <vector>

#include "db/records.hpp"

namespace evo {

class Connection;

// Rows that stand beside the timing of a candidate, which is no duplicate.

/// What `slowdowns` of a row names, a list of texts.
[[nodiscard]] std::vector<Slowdown> slowdowns_from_json(const std::string& text);

void insert_card_state(Connection& db, CandidateId candidate, const CardState& state);
/// Of a short window (`complete` false) or of one as the elite's; in place of what is there.
void replace_energy(Connection& db, CandidateId candidate, bool complete, const Energy& energy);
void replace_profile(Connection& db, CandidateId candidate, const ProfileRecord& profile);

[[nodiscard]] std::optional<CardState> read_card_state(Connection& db, CandidateId candidate);
[[nodiscard]] std::optional<Energy> read_energy(Connection& db, CandidateId candidate,
                                                bool complete);
[[nodiscard]] std::optional<ProfileRecord> read_profile(Connection& db, CandidateId candidate);

}  // namespace evo
