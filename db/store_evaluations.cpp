// Store: evaluated candidates.

#include <charconv>
#include <string>

#include "db/card_rows.hpp"
#include "db/connection.hpp"
#include "db/store.hpp"

namespace evo {
namespace {

// A duplicate shows what its first found: `f` is the candidate itself unless it is a duplicate.
constexpr std::string_view kSelectById =
    "SELECT c.id, c.run_id, c.generation, c.position, c.key, c.config, c.origin, c.milestone,"
    " c.compilation_id, c.kernel_key, c.dynamic_shared_bytes, c.duplicate_of, c.manifest,"
    " c.compile_ms, c.check_ms, c.time_ms, c.created_at, t.kind, t.p50_us, t.p90_us, t.p99_us,"
    " t.mean_us, t.std_us, t.cv, t.samples, t.complete, x.gate, x.reason, x.detail, x.policy_only,"
    " w.gate, w.reason, w.detail FROM candidate c"
    " LEFT JOIN timing t ON t.candidate_id = coalesce(c.duplicate_of, c.id)"
    " LEFT JOIN rejection x ON x.candidate_id = coalesce(c.duplicate_of, c.id)"
    " LEFT JOIN withdrawal w ON w.candidate_id = coalesce(c.duplicate_of, c.id)"
    " WHERE c.id = ?";

void check_outcome(const Connection& db, const EvaluationRecord& record) {
  const bool judged = record.rejection || record.timing;
  if (record.duplicate_of.has_value() && judged) {
    db.fail("evaluation " + std::to_string(record.generation) + "." +
            std::to_string(record.position) + " is a duplicate with an outcome of its own");
  }
}

void insert_candidate(Connection& db, RunId run, const EvaluationRecord& record) {
  Query query = db.query(
      "INSERT INTO candidate (run_id, generation, position, key, config, origin, milestone,"
      " compilation_id, kernel_key, duplicate_of, dynamic_shared_bytes, compile_ms, check_ms,"
      " time_ms, manifest)"
      // A duplicate of a duplicate is a duplicate of the first.
      " VALUES (?,?,?,?,?,?,nullif(?,''),?,nullif(?,''),"
      " (SELECT coalesce(f.duplicate_of, f.id) FROM candidate f WHERE f.id = ? AND f.run_id = ?),"
      " ?,?,?,?,nullif(?,''))");
  query.bind(run).bind(record.generation).bind(record.position).bind(record.key);
  query.bind(record.config_json).bind(record.origin).bind(record.milestone);
  query.bind(record.compilation).bind(record.kernel_key).bind(record.duplicate_of).bind(run);
  query.bind(record.dynamic_shared_bytes).bind(record.compile_ms).bind(record.check_ms);
  query.bind(record.time_ms).bind(record.manifest_json);
  query.run();
}

void insert_checks(Connection& db, CandidateId candidate, const std::vector<CheckResult>& checks) {
  int position = 0;
  for (const CheckResult& check : checks) {
    Query query = db.query(
        "INSERT INTO check_result (candidate_id, position, shape, seed, max_abs_error, bad_share,"
        " relative_l2, max_row_error, sampled) VALUES (?,?,?,?,?,?,?,?,?)");
    query.bind(candidate).bind(position++).bind(check.shape).bind(std::to_string(check.seed));
    query.bind(check.max_abs_error).bind(check.bad_share).bind(check.relative_l2);
    query.bind(check.max_row_error).bind(check.sampled);
    query.run();
  }
}

void insert_timing(Connection& db, CandidateId candidate, const Timing& timing) {
  Query query = db.query(
      "INSERT INTO timing (candidate_id, kind, p50_us, p90_us, p99_us, mean_us, std_us, cv,"
      " samples, complete, not_modelled)"
      " VALUES (?,?,?,?,?,?,?,?,?,?,?)");
  query.bind(candidate).bind(to_string(timing.kind)).bind(timing.p50_us);
  query.bind(timing.p90_us).bind(timing.p99_us).bind(timing.mean_us).bind(timing.std_us);
  query.bind(timing.cv).bind(timing.samples).bind(timing.complete).bind(timing.not_modelled);
  query.run();
}

void insert_rejection(Connection& db, CandidateId candidate, const Rejection& rejection) {
  Query query = db.query(
      "INSERT INTO rejection (candidate_id, gate, reason, detail, policy_only)"
      " VALUES (?,?,?,?,?)");
  query.bind(candidate).bind(to_string(rejection.gate)).bind(rejection.reason);
  query.bind(rejection.detail).bind(rejection.policy_only);
  query.run();
}

std::optional<Timing> read_timing(const Query& row) {
  if (row.is_null(17)) return std::nullopt;
  return Timing{.kind = time_kind_from_string(row.text(17)),
                .p50_us = row.real(18),
                .p90_us = row.real(19),
                .p99_us = row.real(20),
                .mean_us = row.real(21),
                .std_us = row.real(22),
                .cv = row.real(23),
                .samples = row.integer(24),
                .complete = row.integer(25) != 0};
}

std::optional<Rejection> read_rejection(const Query& row) {
  if (row.is_null(26)) return std::nullopt;
  return Rejection{.gate = gate_from_string(row.text(26)),
                   .reason = row.text(27),
                   .detail = row.text(28),
                   .policy_only = row.integer(29) != 0};
}

std::optional<Rejection> read_withdrawal(const Query& row) {
  if (row.is_null(30)) return std::nullopt;
  return Rejection{gate_from_string(row.text(30)), row.text(31), row.text(32)};
}

StoredEvaluation read_evaluation(const Query& row) {
  StoredEvaluation evaluation;
  evaluation.id = row.integer(0);
  evaluation.run = row.integer(1);
  evaluation.created_at = row.text(16);
  evaluation.withdrawal = read_withdrawal(row);
  evaluation.record = {.generation = row.small(2),
                       .position = row.small(3),
                       .key = row.text(4),
                       .config_json = row.text(5),
                       .origin = row.text(6),
                       .milestone = row.text(7),
                       .compilation = row.optional_integer(8),
                       .kernel_key = row.text(9),
                       .dynamic_shared_bytes = row.small(10),
                       .timing = read_timing(row),
                       .rejection = read_rejection(row),
                       .duplicate_of = row.optional_integer(11),
                       .manifest_json = row.text(12),
                       .compile_ms = row.real(13),
                       .check_ms = row.real(14),
                       .time_ms = row.real(15)};
  return evaluation;
}

std::vector<CheckResult> read_checks(Connection& db, const StoredEvaluation& evaluation) {
  Query query = db.query(
      "SELECT shape, seed, max_abs_error, bad_share, relative_l2, max_row_error, sampled"
      " FROM check_result WHERE candidate_id = ? ORDER BY position");
  query.bind(evaluation.record.duplicate_of.value_or(evaluation.id));
  std::vector<CheckResult> checks;
  while (query.next()) {
    CheckResult check{.shape = query.text(0),
                      .max_abs_error = query.real(2),
                      .bad_share = query.real(3),
                      .relative_l2 = query.real(4),
                      .max_row_error = query.real(5),
                      .sampled = query.text(6)};
    const std::string seed = query.text(1);
    std::from_chars(seed.data(), seed.data() + seed.size(), check.seed);
    checks.push_back(std::move(check));
  }
  return checks;
}

/// Nothing when there is no such candidate.
std::optional<StoredEvaluation> find_evaluation(Connection& db, CandidateId candidate) {
  Query query = db.query(kSelectById);
  query.bind(candidate);
  if (!query.next()) return std::nullopt;
  StoredEvaluation evaluation = read_evaluation(query);
  evaluation.record.checks = read_checks(db, evaluation);
  const CandidateId first = evaluation.record.duplicate_of.value_or(evaluation.id);
  evaluation.record.card = read_card_state(db, first);
  evaluation.record.energy = read_energy(db, first, false);
  evaluation.energy = read_energy(db, first, true);
  evaluation.profile = read_profile(db, first);
  return evaluation;
}

std::vector<CandidateId> candidates_of(Connection& db, RunId run) {
  Query query = db.query("SELECT id FROM candidate WHERE run_id = ? ORDER BY generation, position");
  query.bind(run);
  std::vector<CandidateId> candidates;
  while (query.next()) candidates.push_back(query.integer(0));
  return candidates;
}

/// Within a transaction.
CandidateId insert_evaluation(Connection& db, RunId run, const EvaluationRecord& record) {
  insert_candidate(db, run, record);
  const CandidateId candidate = db.last_id();
  if (record.duplicate_of) {
    Query query = db.query("SELECT duplicate_of FROM candidate WHERE id = ?");
    query.bind(candidate);
    if (!query.next() || query.is_null(0)) {
      db.fail("a duplicate of candidate " + std::to_string(*record.duplicate_of) + ", which run " +
              std::to_string(run) + " does not have");
    }
  } else {  // The checks of a duplicate, if any, are those of the first.
    insert_checks(db, candidate, record.checks);
    if (record.timing) insert_timing(db, candidate, *record.timing);
    if (record.timing && record.card) insert_card_state(db, candidate, *record.card);
    if (record.timing && record.energy) replace_energy(db, candidate, false, *record.energy);
    if (record.rejection) insert_rejection(db, candidate, *record.rejection);
  }
  return candidate;
}

}  // namespace

CandidateId Store::record_evaluation(RunId run, const EvaluationRecord& record) {
  return record_evaluations({{run, record}}).front();
}

std::vector<CandidateId> Store::record_evaluations(const std::vector<RunEvaluation>& evaluations) {
  for (const RunEvaluation& evaluation : evaluations) {
    check_outcome(*connection_, evaluation.record);
  }
  return connection_->write([&] {
    std::vector<CandidateId> ids;
    for (const auto& [run, record] : evaluations) {
      ids.push_back(insert_evaluation(*connection_, run, record));
    }
    return ids;
  });
}

void Store::record_full_checks(CandidateId candidate, const std::vector<CheckResult>& checks) {
  connection_->write([&] {
    Query old = connection_->query("DELETE FROM check_result WHERE candidate_id = ?");
    old.bind(candidate).run();
    insert_checks(*connection_, candidate, checks);
  });
}

std::optional<CandidateId> Store::find_kernel(RunId run, std::string_view kernel_key) const {
  return connection_->read([&]() -> std::optional<CandidateId> {
    Query query = connection_->query(
        "SELECT id FROM candidate WHERE run_id = ? AND kernel_key = ? AND duplicate_of IS NULL"
        " ORDER BY generation, position LIMIT 1");
    query.bind(run).bind(kernel_key);
    if (!query.next()) return std::nullopt;
    return query.integer(0);
  });
}

void Store::for_each_evaluation(RunId run,
                                const std::function<void(StoredEvaluation)>& visit) const {
  const auto candidates = connection_->read([&] { return candidates_of(*connection_, run); });
  for (const CandidateId candidate : candidates) {
    auto evaluation = connection_->read([&] { return find_evaluation(*connection_, candidate); });
    if (evaluation) visit(std::move(*evaluation));
  }
}

std::vector<StoredEvaluation> Store::evaluations(RunId run) const {
  return connection_->read([&] {
    std::vector<StoredEvaluation> evaluations;
    for (const CandidateId candidate : candidates_of(*connection_, run)) {
      evaluations.push_back(find_evaluation(*connection_, candidate).value());
    }
    return evaluations;
  });
}

StoredEvaluation Store::evaluation(CandidateId candidate) const {
  return connection_->read([&] {
    std::optional<StoredEvaluation> found = find_evaluation(*connection_, candidate);
    if (!found) {
      connection_->fail("no candidate " + std::to_string(candidate) +
                        "; `evo-elite` has a column of candidates");
    }
    return std::move(*found);
  });
}

}  // namespace evo
