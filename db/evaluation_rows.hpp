#pragma once

#include <vector>

#include "db/records.hpp"

namespace evo {

class Connection;

// Rows about evaluated candidates. Call the functions of this file within a transaction.

/// Throws DbError if the record is a duplicate of a candidate that does not belong to the run.
CandidateId insert_evaluation(Connection& db, const EvaluationRecord& record);
/// Replaces the candidate's stored checks by `checks`.
void replace_checks(Connection& db, CandidateId candidate, const std::vector<CheckResult>& checks);

/// Returns a run's candidates in the order of generation and position.
[[nodiscard]] std::vector<CandidateId> candidates_of(Connection& db, RunId run);
/// Throws DbError if the database does not have the candidate.
[[nodiscard]] EvaluationRecord read_evaluation(Connection& db, CandidateId candidate);

}  // namespace evo
