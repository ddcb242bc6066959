#include "db/run_reader.hpp"

#include "db/compilation_rows.hpp"
#include "db/connection.hpp"
#include "db/evaluation_rows.hpp"

namespace evo {
namespace {

StoredGeneration read_generation(Query& row) {
  StoredGeneration generation;
  GenerationRecord& record = generation.record;
  row.read(record.number, record.wall_ms, record.control_p50_us, record.control_drift,
           generation.finished_at, generation.evaluated, generation.rejected, generation.duplicates,
           generation.withdrawn);
  return generation;
}

StoredEvent read_event(Query& row) {
  StoredEvent event;
  row.read(event.at, event.kind, event.text);
  return event;
}

VendorTime read_vendor_time(Query& row) {
  VendorTime time;
  row.read(time.name, time.starts_from, time.p50_us, time.candidate, time.ratio, time.ratio_low,
           time.ratio_high);
  return time;
}

}  // namespace

std::optional<CompilationId> RunReader::compilation_id(std::string_view key) const {
  return db_->read([&] { return find_compilation(*db_, key); });
}

CompilationFacts RunReader::compilation_facts(CompilationId id) const {
  return db_->read([&] { return read_facts(*db_, id); });
}

void RunReader::for_each_evaluation(RunId run,
                                    const std::function<void(EvaluationRecord)>& visit) const {
  const auto candidates = db_->read([&] { return candidates_of(*db_, run); });
  for (const CandidateId candidate : candidates) visit(evaluation(candidate));
}

std::vector<EvaluationRecord> RunReader::evaluations(RunId run) const {
  return db_->read([&] {
    std::vector<EvaluationRecord> evaluations;
    for (const CandidateId candidate : candidates_of(*db_, run)) {
      evaluations.push_back(read_evaluation(*db_, candidate));
    }
    return evaluations;
  });
}

EvaluationRecord RunReader::evaluation(CandidateId candidate) const {
  return db_->read([&] { return read_evaluation(*db_, candidate); });
}

std::vector<StoredGeneration> RunReader::generations(RunId run) const {
  return db_->read([&] {
    std::vector<StoredGeneration> generations =
        db_->query(
               "SELECT g.number, g.wall_ms, g.control_p50_us, g.control_drift, g.finished_at,"
               " count(c.id), count(x.candidate_id), count(c.duplicate_of), count(w.candidate_id)"
               " FROM generation g"
               " LEFT JOIN candidate c ON c.run_id = g.run_id AND c.generation = g.number"
               " LEFT JOIN rejection x ON x.candidate_id = c.id"
               " LEFT JOIN withdrawal w ON w.candidate_id = c.id"
               " WHERE g.run_id = ? GROUP BY g.number ORDER BY g.number",
               run)
            .all(read_generation);
    for (StoredGeneration& generation : generations) {
      generation.record.elite = db_->query(
                                       "SELECT candidate_id FROM elite_member"
                                       " WHERE run_id = ? AND generation = ? ORDER BY rank",
                                       run, generation.record.number)
                                    .all<CandidateId>();
    }
    return generations;
  });
}

std::vector<StoredEvent> RunReader::events(RunId run) const {
  return db_->read([&] {
    return db_->query("SELECT at, kind, text FROM event WHERE run_id = ? ORDER BY id", run)
        .all(read_event);
  });
}

std::vector<VendorTime> RunReader::vendor_times(RunId run) const {
  return db_->read([&] {
    return db_
        ->query(
            "SELECT name, starts_from, p50_us, candidate_id, ratio, ratio_low, ratio_high"
            " FROM vendor_time WHERE run_id = ? ORDER BY p50_us, name, starts_from",
            run)
        .all(read_vendor_time);
  });
}

}  // namespace evo
