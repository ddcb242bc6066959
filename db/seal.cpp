#include "db/seal.hpp"

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "db/card_rows.hpp"
#include "db/compilation_texts.hpp"
#include "db/connection.hpp"
#include "engine/core/hash.hpp"

namespace evo {
namespace {

/// The version of the schema that has the table of seals.
constexpr int kFirstWithSeals = 3;

// The columns are named: one that a later version adds does not change what was sealed. Each
// statement's parameters are the id and, if it has a second one, the part. They are long texts in
// pieces: NOLINTBEGIN(bugprone-suspicious-missing-comma)
const std::vector<std::string>& statements_of(Sealed::Kind kind) {
  static const std::vector<std::string> run = {
      "SELECT device_id, problem_id, space_id, shape, seed, strategy, elite_size, children,"
      " flops_per_launch, bytes_per_launch, options, evo_version, started_at FROM run WHERE id = ?",
      "SELECT d.key, selector, name, arch, kind, sm_count, clock_mhz, max_registers_per_thread,"
      " max_shared_bytes_per_cta, max_threads_per_cta, l2_bytes, peak_tflops, peak_bandwidth_gbs,"
      " driver FROM device d JOIN run r ON r.device_id = d.id WHERE r.id = ?",
      "SELECT p.key, p.name, p.text FROM problem p JOIN run r ON r.problem_id = p.id"
      " WHERE r.id = ?",
      "SELECT s.key, s.name, s.text FROM space s JOIN run r ON r.space_id = s.id WHERE r.id = ?"};
  static const std::vector<std::string> evaluation = {
      "SELECT run_id, generation, position, key, config, origin, milestone, compilation_id,"
      " kernel_key, duplicate_of, dynamic_shared_bytes, compile_ms, check_ms, time_ms, manifest,"
      " created_at FROM candidate WHERE id = ?",
      "SELECT position, shape, seed, max_abs_error, bad_share, relative_l2, max_row_error, sampled"
      " FROM check_result WHERE candidate_id = ? ORDER BY position",
      "SELECT shape, kind, p50_us, p90_us, p99_us, mean_us, std_us, cv, samples, complete,"
      " measured_at FROM timing WHERE candidate_id = ? ORDER BY shape",
      "SELECT gate, reason, detail, policy_only FROM rejection WHERE candidate_id = ?",
      "SELECT b.key, ok, arch, compiler, options, error, ptx_hash, registers, static_shared_bytes,"
      " spill_store_bytes, spill_load_bytes, stack_bytes, max_threads FROM compilation b"
      " JOIN candidate c ON c.compilation_id = b.id WHERE c.id = ?"};
  static const std::vector<std::string> generation = {
      "SELECT wall_ms, control_p50_us, control_drift, finished_at FROM generation"
      " WHERE run_id = ? AND number = ?",
      "SELECT rank, candidate_id, p50_us FROM elite_member WHERE run_id = ? AND generation = ?"
      " ORDER BY rank"};
  switch (kind) {
    case Sealed::Kind::kRun:
      return run;
    case Sealed::Kind::kEvaluation:
      return evaluation;
    case Sealed::Kind::kGeneration:
      return generation;
    case Sealed::Kind::kCompilation:
      break;  // its texts are packed
  }
  return run;
}
// NOLINTEND(bugprone-suspicious-missing-comma)

/// Of an evaluation: what may stand beside it since that version. Without rows they change no
/// digest.
const std::vector<std::string>& later_statements() {
  // NOLINTBEGIN(bugprone-suspicious-missing-comma)
  static const std::vector<std::string> statements = {
      "SELECT shape, looks, sm_clock_min_mhz, sm_clock_median_mhz, memory_clock_mhz, temperature_c,"
      " power_w, slowdowns, discarded, throttled, others, busy_before_percent FROM card_state"
      " WHERE candidate_id = ? ORDER BY shape",
      "SELECT shape, complete, launch_mj, power_w, window_s, launches, measured_at FROM energy"
      " WHERE candidate_id = ? ORDER BY shape, complete",
      "SELECT shape, kind, tool, require, passed, profiled_at FROM profile"
      " WHERE candidate_id = ? ORDER BY shape",
      "SELECT shape, name, metric, value, unit FROM profile_metric"
      " WHERE candidate_id = ? ORDER BY shape, name"};
  // NOLINTEND(bugprone-suspicious-missing-comma)
  return statements;
}

std::string_view name_of(Sealed::Kind kind) {
  switch (kind) {
    case Sealed::Kind::kRun:
      return "run";
    case Sealed::Kind::kEvaluation:
      return "evaluation";
    case Sealed::Kind::kCompilation:
      return "compilation";
    case Sealed::Kind::kGeneration:
      return "generation";
  }
  return "run";
}

std::string describe(const Sealed& what) {
  if (what.kind == Sealed::Kind::kEvaluation) return "candidate " + std::to_string(what.id);
  if (what.kind == Sealed::Kind::kGeneration) {
    return "generation " + std::to_string(what.part) + " of run " + std::to_string(what.id);
  }
  return std::string(name_of(what.kind)) + " " + std::to_string(what.id);
}

std::string digest_of(Connection& db, const Sealed& what) {
  if (what.kind == Sealed::Kind::kCompilation) {
    const std::optional<CompilationTexts> texts = find_texts(db, what.id);
    return texts ? digest_of(*texts) : std::string();
  }
  ContentHash hash;
  const auto add_row = [&](const std::string& label, const Query& query) {
    hash.add(label);
    for (int column = 0; column < query.columns(); ++column) hash.add(query.exact(column));
  };
  for (const std::string& sql : statements_of(what.kind)) {
    Query query = db.query(sql);
    query.bind(what.id);
    if (what.kind == Sealed::Kind::kGeneration) query.bind(what.part);
    while (query.next()) add_row("row", query);
    hash.add("end");
  }
  if (what.kind == Sealed::Kind::kEvaluation && db.version() >= kFirstWithCardState) {
    for (const std::string& sql : later_statements()) {
      Query query = db.query(sql);
      query.bind(what.id);
      while (query.next()) add_row(sql, query);
    }
  }
  return hash.hex();
}

void insert_seal(Connection& db, const Sealed& what, const std::string& digest) {
  Query insert = db.query("INSERT INTO seal (kind, id, part, digest) VALUES (?,?,?,?)");
  insert.bind(name_of(what.kind)).bind(what.id).bind(what.part).bind(digest).run();
}

}  // namespace

void seal(Connection& db, const Sealed& what) {
  {
    Query known = db.query("SELECT 1 FROM seal WHERE kind = ? AND id = ? AND part = ?");
    known.bind(name_of(what.kind)).bind(what.id).bind(what.part);
    if (known.next()) return;
  }
  insert_seal(db, what, digest_of(db, what));
}

void seal_again(Connection& db, const Sealed& what) {
  Query old = db.query("DELETE FROM seal WHERE kind = ? AND id = ? AND part = ?");
  old.bind(name_of(what.kind)).bind(what.id).bind(what.part).run();
  insert_seal(db, what, digest_of(db, what));
}

void seal_compilation(Connection& db, CompilationId id, const CompilationTexts& texts) {
  insert_seal(db, {Sealed::Kind::kCompilation, id}, digest_of(texts));
}

void require_intact(Connection& db, const Sealed& what) {
  if (db.version() < kFirstWithSeals) return;
  Query query = db.query("SELECT digest FROM seal WHERE kind = ? AND id = ? AND part = ?");
  query.bind(name_of(what.kind)).bind(what.id).bind(what.part);
  if (!query.next() || query.text(0) == digest_of(db, what)) return;
  db.fail("is damaged: " + describe(what) + " is not what was stored");
}

void require_candidate_intact(Connection& db, CandidateId candidate) {
  std::vector<std::int64_t> candidates, runs, compilations;
  {
    Query query = db.query(
        "SELECT f.id, f.run_id, f.compilation_id FROM candidate c"
        " JOIN candidate f ON f.id = c.id OR f.id = c.duplicate_of WHERE c.id = ?");
    query.bind(candidate);
    while (query.next()) {
      candidates.push_back(query.integer(0));
      runs.push_back(query.integer(1));
      if (!query.is_null(2)) compilations.push_back(query.integer(2));
    }
  }
  for (const std::int64_t id : runs) require_intact(db, {Sealed::Kind::kRun, id});
  for (const std::int64_t id : candidates) require_intact(db, {Sealed::Kind::kEvaluation, id});
  for (const std::int64_t id : compilations) require_intact(db, {Sealed::Kind::kCompilation, id});
}

}  // namespace evo
