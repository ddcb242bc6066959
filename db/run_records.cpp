#include "db/run_records.hpp"

#include "db/compilation_rows.hpp"
#include "db/connection.hpp"
#include "db/evaluation_rows.hpp"
#include "db/gpu_rows.hpp"

namespace evo {
namespace {

void require_one_outcome(const Connection& db, const EvaluationRecord& record) {
  if (!record.duplicate_of || (!record.rejection && !record.timing)) return;
  db.fail("evaluation {}.{} is a duplicate but also has its own outcome", record.generation,
          record.position);
}

void require_timing(Connection& db, CandidateId candidate) {
  const auto found =
      db.query("SELECT 1 FROM timing WHERE candidate_id = ?", candidate).first<int>();
  if (!found)
    db.fail("candidate {} has no stored timing: it is a duplicate, or was not timed", candidate);
}

/// Throws DbError unless `changed`, the number of rows that a statement changed, is 1. The
/// statement must change a row only for a green candidate of the run that is no duplicate.
void require_green(const Connection& db, int changed, CandidateId candidate, RunId run,
                   const char* what) {
  if (changed == 1) return;
  db.fail(
      "candidate {} cannot be {} run {}: it is not green, is a duplicate, or belongs to another "
      "run",
      candidate, what, run);
}

void insert_elite(Connection& db, RunId run, const GenerationRecord& record) {
  int rank = 0;
  for (const CandidateId member : record.elite) {
    const int changed = db.run(
        "INSERT INTO elite_member (run_id, generation, rank, candidate_id, p50_us)"
        " SELECT c.run_id, ?, ?, c.id, t.p50_us FROM candidate c"
        " JOIN timing t ON t.candidate_id = c.id"
        " WHERE c.id = ? AND c.run_id = ? AND c.duplicate_of IS NULL"
        " AND NOT EXISTS (SELECT 1 FROM rejection x WHERE x.candidate_id = c.id)",
        record.number, ++rank, member, run);
    require_green(db, changed, member, run, "in the elite of");
  }
}

}  // namespace

std::vector<CompilationFacts> RunRecords::find_compilation_facts(
    std::string_view request_key) const {
  return db_->read([&] { return find_facts(*db_, request_key); });
}

CompilationRecord RunRecords::compilation(CompilationId id) const {
  return db_->read([&] {
    return CompilationRecord{read_facts(*db_, id), read_artifacts(*db_, id)};
  });
}

CompilationId RunRecords::put_compilation(const CompilationRecord& record) {
  if (record.ok == record.ptx_hash.empty() || record.ok != record.error.empty()) {
    db_->fail("compilation {} must have either a PTX hash or an error, consistent with its 'ok'",
              record.key);
  }
  const auto find = [&] { return find_compilation(*db_, record.key); };
  if (const auto known = db_->read(find)) return *known;
  const PackedArtifacts packed = pack(*db_, record);
  return db_->write([&] {
    const auto known = find();  // another process may have stored it meanwhile
    return known ? *known : insert_compilation(*db_, record, packed);
  });
}

std::vector<CandidateId> RunRecords::record_evaluations(
    const std::vector<EvaluationRecord>& records) {
  for (const EvaluationRecord& record : records) require_one_outcome(*db_, record);
  return db_->write([&] {
    std::vector<CandidateId> ids;
    for (const EvaluationRecord& record : records) ids.push_back(insert_evaluation(*db_, record));
    return ids;
  });
}

void RunRecords::record_full_checks(CandidateId candidate, const std::vector<CheckResult>& checks) {
  db_->write([&] { replace_checks(*db_, candidate, checks); });
}

void RunRecords::record_energy(CandidateId candidate, const Energy& energy) {
  db_->write([&] {
    require_timing(*db_, candidate);
    replace_energy(*db_, candidate, true, energy);
  });
}

void RunRecords::record_profile(CandidateId candidate, const ProfileRecord& profile) {
  db_->write([&] {
    require_timing(*db_, candidate);
    replace_profile(*db_, candidate, profile);
  });
}

void RunRecords::record_generation(RunId run, const GenerationRecord& record) {
  db_->write([&] {
    // Deleting a row of `generation` also deletes the generation's rows of `elite_member`.
    db_->run("DELETE FROM generation WHERE run_id = ? AND number = ?", run, record.number);
    db_->run(
        "INSERT INTO generation (run_id, number, wall_ms, control_p50_us, control_drift)"
        " VALUES (?,?,?,?,?)",
        run, record.number, record.wall_ms, record.control_p50_us, record.control_drift);
    insert_elite(*db_, run, record);
  });
}

void RunRecords::record_comparison(RunId run, const ComparisonRecord& record) {
  db_->write([&] {
    db_->run(
        "INSERT INTO comparison (run_id, generation, challenger_id, incumbent_id, ratio, ratio_low,"
        " ratio_high, pairs, verdict) VALUES (?,?,?,?,?,?,?,?,?)",
        run, record.generation, record.challenger, record.incumbent, record.ratio, record.ratio_low,
        record.ratio_high, record.pairs, record.verdict);
  });
}

std::vector<ComparisonRecord> RunRecords::comparisons(RunId run) const {
  const auto read = [](Query& row) {
    ComparisonRecord record;
    row.read(record.generation, record.challenger, record.incumbent, record.ratio, record.ratio_low,
             record.ratio_high, record.pairs, record.verdict);
    return record;
  };
  return db_->read([&] {
    return db_
        ->query(
            "SELECT generation, challenger_id, incumbent_id, ratio, ratio_low, ratio_high, pairs,"
            " verdict FROM comparison WHERE run_id = ? ORDER BY id",
            run)
        .all(read);
  });
}

void RunRecords::record_withdrawal(RunId run, const WithdrawalRecord& record) {
  db_->write([&] {
    const int changed = db_->run(
        "INSERT INTO withdrawal (candidate_id, generation, gate, reason, detail)"
        " SELECT c.id, ?, ?, ?, ? FROM candidate c"
        " WHERE c.id = ? AND c.run_id = ? AND c.duplicate_of IS NULL"
        " AND EXISTS (SELECT 1 FROM timing t WHERE t.candidate_id = c.id)"
        " AND NOT EXISTS (SELECT 1 FROM rejection x WHERE x.candidate_id = c.id)",
        record.generation, record.why.gate, record.why.reason, record.why.detail, record.candidate,
        run);
    require_green(*db_, changed, record.candidate, run, "withdrawn from");
  });
}

std::vector<WithdrawalRecord> RunRecords::withdrawals(RunId run) const {
  const auto read = [](Query& row) {
    WithdrawalRecord record;
    row.read(record.candidate, record.generation, record.why.gate, record.why.reason,
             record.why.detail);
    return record;
  };
  return db_->read([&] {
    return db_
        ->query(
            "SELECT w.candidate_id, w.generation, w.gate, w.reason, w.detail FROM withdrawal w"
            " JOIN candidate c ON c.id = w.candidate_id WHERE c.run_id = ? ORDER BY c.id",
            run)
        .all(read);
  });
}

void RunRecords::record_event(RunId run, std::string_view kind, std::string_view text) {
  db_->write(
      [&] { db_->run("INSERT INTO event (run_id, kind, text) VALUES (?,?,?)", run, kind, text); });
}

}  // namespace evo
