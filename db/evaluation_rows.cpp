#include "db/evaluation_rows.hpp"

#include <tuple>
#include <utility>

#include "db/connection.hpp"
#include "db/gpu_rows.hpp"

namespace evo {
namespace {

CandidateId insert_candidate(Connection& db, const EvaluationRecord& record) {
  db.run(
      "INSERT INTO candidate (run_id, generation, position, key, config, origin, milestone,"
      " compilation_id, kernel_key, duplicate_of, dynamic_shared_bytes, compile_ms, check_ms,"
      " time_ms, manifest)"
      // If record.duplicate_of is itself a duplicate, its own duplicate_of is stored instead.
      " VALUES (?,?,?,?,?,?,nullif(?,''),?,nullif(?,''),"
      " (SELECT coalesce(f.duplicate_of, f.id) FROM candidate f WHERE f.id = ? AND f.run_id = ?),"
      " ?,?,?,?,nullif(?,''))",
      record.run, record.generation, record.position, record.key, record.config_json, record.origin,
      record.milestone, record.compilation, record.kernel_key, record.duplicate_of, record.run,
      record.dynamic_shared_bytes, record.compile_ms, record.check_ms, record.time_ms,
      record.manifest_json);
  return db.last_id();
}

void insert_timing(Connection& db, CandidateId candidate, const Timing& timing,
                   const TimingPlace& place) {
  db.run(
      "INSERT INTO timing (candidate_id, kind, p50_us, p90_us, p99_us, mean_us, std_us, cv,"
      " samples, complete, not_modelled, host, gpu_uuid) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)",
      candidate, timing.kind, timing.p50_us, timing.p90_us, timing.p99_us, timing.mean_us,
      timing.std_us, timing.cv, timing.samples, timing.complete, timing.not_modelled, place.host,
      place.gpu_uuid);
}

std::optional<std::pair<Timing, TimingPlace>> find_timing(Connection& db, CandidateId candidate) {
  Query row = db.query(
      "SELECT kind, p50_us, p90_us, p99_us, mean_us, std_us, cv, samples, complete, not_modelled,"
      " host, gpu_uuid FROM timing WHERE candidate_id = ?",
      candidate);
  if (!row.next()) return std::nullopt;
  std::pair<Timing, TimingPlace> found;
  auto& [timing, place] = found;
  row.read(timing.kind, timing.p50_us, timing.p90_us, timing.p99_us, timing.mean_us, timing.std_us,
           timing.cv, timing.samples, timing.complete, timing.not_modelled, place.host,
           place.gpu_uuid);
  return found;
}

/// `sql`: a query that selects gate, reason, detail and policy_only for a candidate's id.
std::optional<Rejection> find_reason(Connection& db, std::string_view sql, CandidateId candidate) {
  Query row = db.query(sql, candidate);
  if (!row.next()) return std::nullopt;
  Rejection rejection;
  row.read(rejection.gate, rejection.reason, rejection.detail, rejection.policy_only);
  return rejection;
}

CheckResult read_check(Query& row) {
  CheckResult check;
  row.read(check.shape, check.seed, check.max_abs_error, check.bad_share, check.relative_l2,
           check.max_row_error, check.sampled);
  return check;
}

EvaluationRecord read_candidate(Connection& db, CandidateId candidate) {
  Query row = db.query(
      "SELECT id, run_id, generation, position, key, config, origin, milestone, compilation_id,"
      " kernel_key, duplicate_of, dynamic_shared_bytes, compile_ms, check_ms, time_ms, manifest,"
      " created_at FROM candidate WHERE id = ?",
      candidate);
  if (!row.next()) {
    db.fail("no candidate {}; `evo-elite` lists candidates with their numbers", candidate);
  }
  EvaluationRecord record;
  row.read(record.id, record.run, record.generation, record.position, record.key,
           record.config_json, record.origin, record.milestone, record.compilation,
           record.kernel_key, record.duplicate_of, record.dynamic_shared_bytes, record.compile_ms,
           record.check_ms, record.time_ms, record.manifest_json, record.created_at);
  return record;
}

}  // namespace

CandidateId insert_evaluation(Connection& db, const EvaluationRecord& record) {
  const CandidateId candidate = insert_candidate(db, record);
  // Checks, timing and rejection of a duplicate are not stored, because those of the earlier
  // candidate with the same kernel are stored already.
  if (record.duplicate_of) {
    if (!read_candidate(db, candidate).duplicate_of) {
      db.fail("cannot store a duplicate of candidate {}: run {} does not have this candidate",
              *record.duplicate_of, record.run);
    }
    return candidate;
  }
  replace_checks(db, candidate, record.checks);
  if (record.timing) {
    insert_timing(db, candidate, *record.timing, record.place);
    if (record.gpu) insert_gpu_state(db, candidate, *record.gpu);
    if (record.energy) replace_energy(db, candidate, false, *record.energy);
  }
  if (record.rejection) {
    const Rejection& rejection = *record.rejection;
    db.run(
        "INSERT INTO rejection (candidate_id, gate, reason, detail, policy_only)"
        " VALUES (?,?,?,?,?)",
        candidate, rejection.gate, rejection.reason, rejection.detail, rejection.policy_only);
  }
  return candidate;
}

void replace_checks(Connection& db, CandidateId candidate, const std::vector<CheckResult>& checks) {
  db.run("DELETE FROM check_result WHERE candidate_id = ?", candidate);
  int position = 0;
  for (const CheckResult& check : checks) {
    db.run(
        "INSERT INTO check_result (candidate_id, position, shape, seed, max_abs_error, bad_share,"
        " relative_l2, max_row_error, sampled) VALUES (?,?,?,?,?,?,?,?,?)",
        candidate, position++, check.shape, check.seed, check.max_abs_error, check.bad_share,
        check.relative_l2, check.max_row_error, check.sampled);
  }
}

std::vector<CandidateId> candidates_of(Connection& db, RunId run) {
  return db.query("SELECT id FROM candidate WHERE run_id = ? ORDER BY generation, position", run)
      .all<CandidateId>();
}

EvaluationRecord read_evaluation(Connection& db, CandidateId candidate) {
  EvaluationRecord record = read_candidate(db, candidate);
  const CandidateId first = record.duplicate_of.value_or(candidate);
  if (auto timed = find_timing(db, first)) {
    std::tie(record.timing, record.place) = *std::move(timed);
  }
  record.rejection = find_reason(
      db, "SELECT gate, reason, detail, policy_only FROM rejection WHERE candidate_id = ?", first);
  record.withdrawal = find_reason(
      db, "SELECT gate, reason, detail, 0 FROM withdrawal WHERE candidate_id = ?", first);
  record.checks = db.query(
                        "SELECT shape, seed, max_abs_error, bad_share, relative_l2, max_row_error,"
                        " sampled FROM check_result WHERE candidate_id = ? ORDER BY position",
                        first)
                      .all(read_check);
  record.gpu = find_gpu_state(db, first);
  record.energy = find_energy(db, first, false);
  record.elite_energy = find_energy(db, first, true);
  record.profile = find_profile(db, first);
  return record;
}

}  // namespace evo
