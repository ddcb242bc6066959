// Store: generations with their elite, confirmations, events.

#include "db/connection.hpp"
#include "db/store.hpp"

namespace evo {
namespace {

void insert_elite(Connection& db, RunId run, const GenerationRecord& record) {
  int rank = 0;
  for (const EliteEntry& entry : record.elite) {
    ++rank;
    // Only a green candidate of this run that stands for its kernel may be in the elite.
    Query query = db.query(
        "INSERT INTO elite_member (run_id, generation, rank, candidate_id, p50_us)"
        " SELECT c.run_id, ?, ?, c.id, ? FROM candidate c"
        " WHERE c.id = ? AND c.run_id = ? AND c.duplicate_of IS NULL"
        " AND NOT EXISTS (SELECT 1 FROM rejection x WHERE x.candidate_id = c.id)");
    query.bind(record.number).bind(rank).bind(entry.p50_us).bind(entry.candidate).bind(run);
    query.run();
    if (db.database().getChanges() != 1) {
      db.fail("candidate " + std::to_string(entry.candidate) + " cannot be in the elite of run " +
              std::to_string(run) + ": it is not a green, first candidate of that run");
    }
  }
}

std::vector<EliteEntry> read_elite(Connection& db, RunId run, int generation) {
  Query query = db.query(
      "SELECT candidate_id, p50_us FROM elite_member WHERE run_id = ? AND generation = ?"
      " ORDER BY rank");
  query.bind(run).bind(generation);
  std::vector<EliteEntry> elite;
  while (query.next()) elite.push_back({.candidate = query.integer(0), .p50_us = query.real(1)});
  return elite;
}

Verdict verdict_from_string(std::string_view text) {
  if (text == "faster") return Verdict::kFaster;
  return text == "slower" ? Verdict::kSlower : Verdict::kTie;
}

}  // namespace

std::string_view to_string(Verdict verdict) {
  if (verdict == Verdict::kFaster) return "faster";
  return verdict == Verdict::kSlower ? "slower" : "tie";
}

void Store::record_generation(RunId run, const GenerationRecord& record) {
  connection_->write([&] {
    Query old = connection_->query("DELETE FROM generation WHERE run_id = ? AND number = ?");
    old.bind(run).bind(record.number).run();
    Query query = connection_->query(
        "INSERT INTO generation (run_id, number, wall_ms, control_p50_us, control_drift)"
        " VALUES (?,?,?,?,?)");
    query.bind(run).bind(record.number).bind(record.wall_ms).bind(record.control_p50_us);
    query.bind(record.control_drift).run();
    insert_elite(*connection_, run, record);
  });
}

std::vector<StoredGeneration> Store::generations(RunId run) const {
  return connection_->read([&] {
    Query query = connection_->query(
        "SELECT g.number, g.wall_ms, g.control_p50_us, g.control_drift, g.finished_at, count(c.id),"
        " count(x.candidate_id), count(c.duplicate_of), count(w.candidate_id)"
        " FROM generation g"
        " LEFT JOIN candidate c ON c.run_id = g.run_id AND c.generation = g.number"
        " LEFT JOIN rejection x ON x.candidate_id = c.id"
        " LEFT JOIN withdrawal w ON w.candidate_id = c.id"
        " WHERE g.run_id = ? GROUP BY g.number ORDER BY g.number");
    query.bind(run);
    std::vector<StoredGeneration> generations;
    while (query.next()) {
      StoredGeneration generation;
      generation.record = {.number = query.small(0),
                           .wall_ms = query.real(1),
                           .control_p50_us = query.optional_real(2),
                           .control_drift = query.optional_real(3)};
      generation.finished_at = query.text(4);
      generation.evaluated = query.integer(5);
      generation.rejected = query.integer(6);
      generation.duplicates = query.integer(7);
      generation.withdrawn = query.integer(8);
      generation.green =
          generation.evaluated - generation.rejected - generation.duplicates - generation.withdrawn;
      generation.record.elite = read_elite(*connection_, run, generation.record.number);
      generations.push_back(std::move(generation));
    }
    return generations;
  });
}

void Store::record_confirmation(RunId run, const ConfirmationRecord& record) {
  connection_->write([&] {
    Query query = connection_->query(
        "INSERT INTO comparison (run_id, generation, challenger_id, incumbent_id, ratio,"
        " ratio_low, ratio_high, pairs, verdict) VALUES (?,?,?,?,?,?,?,?,?)");
    query.bind(run).bind(record.generation).bind(record.challenger).bind(record.incumbent);
    query.bind(record.ratio).bind(record.ratio_low).bind(record.ratio_high).bind(record.pairs);
    query.bind(to_string(record.verdict)).run();
  });
}

std::vector<ConfirmationRecord> Store::confirmations(RunId run) const {
  return connection_->read([&] {
    Query query = connection_->query(
        "SELECT generation, challenger_id, incumbent_id, ratio, ratio_low, ratio_high, pairs,"
        " verdict FROM comparison WHERE run_id = ? ORDER BY id");
    query.bind(run);
    std::vector<ConfirmationRecord> records;
    while (query.next()) {
      records.push_back({.generation = query.small(0),
                         .challenger = query.integer(1),
                         .incumbent = query.integer(2),
                         .ratio = query.real(3),
                         .ratio_low = query.real(4),
                         .ratio_high = query.real(5),
                         .pairs = query.small(6),
                         .verdict = verdict_from_string(query.text(7))});
    }
    return records;
  });
}

void Store::record_event(RunId run, std::string_view kind, std::string_view text) {
  connection_->write([&] {
    Query query = connection_->query("INSERT INTO event (run_id, kind, text) VALUES (?,?,?)");
    query.bind(run).bind(kind).bind(text).run();
  });
}

std::vector<StoredEvent> Store::events(RunId run) const {
  return connection_->read([&] {
    Query query =
        connection_->query("SELECT at, kind, text FROM event WHERE run_id = ? ORDER BY id");
    query.bind(run);
    std::vector<StoredEvent> events;
    while (query.next()) {
      events.push_back({.at = query.text(0), .kind = query.text(1), .text = query.text(2)});
    }
    return events;
  });
}

}  // namespace evo
