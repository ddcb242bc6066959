#pragma once

#include <optional>
#include <vector>

#include "db/records.hpp"

namespace evo {

class Connection;

// Evaluated candidates. Call all functions within a transaction.

/// Throws DbError for a duplicate of a candidate that the run does not have.
CandidateId insert_evaluation(Connection& db, RunId run, const EvaluationRecord& record);
/// Replaces existing rows.
void replace_checks(Connection& db, CandidateId candidate, const std::vector<CheckResult>& checks);

/// Returns a run's candidates in the order of generation and position.
[[nodiscard]] std::vector<CandidateId> candidates_of(Connection& db, RunId run);
/// Throws DbError if there is no such candidate.
[[nodiscard]] StoredEvaluation read_evaluation(Connection& db, CandidateId candidate);

}  // namespace evo
