// Store: the ways from the default and from a milestone to the winner.

#include <nlohmann/json.hpp>

#include "db/connection.hpp"
#include "db/store.hpp"

namespace evo {
namespace {

std::string changes_text(const std::vector<MacroChange>& changes) {
  nlohmann::ordered_json json = nlohmann::json::array();
  for (const MacroChange& change : changes) {
    json.push_back({{"macro", change.macro}, {"from", change.from}, {"to", change.to}});
  }
  return json.dump();
}

std::vector<MacroChange> changes_from(const std::string& text) {
  std::vector<MacroChange> changes;
  for (const auto& change : nlohmann::json::parse(text)) {
    changes.push_back({change.at("macro"), change.at("from"), change.at("to")});
  }
  return changes;
}

void insert_step(Connection& db, RunId run, const WinnerWay& way, int position) {
  const WinnerStep& step = way.steps[static_cast<std::size_t>(position)];
  Query query = db.query(
      "INSERT INTO winner_step (run_id, start, position, winner_id, config, changes, p50_us, ratio,"
      " ratio_low, ratio_high, pairs, note) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  query.bind(run).bind(way.start).bind(position).bind(way.winner).bind(step.config_json);
  query.bind(changes_text(step.changes)).bind(step.p50_us).bind(step.ratio);
  query.bind(step.ratio_low).bind(step.ratio_high).bind(step.pairs).bind(step.note).run();
}

}  // namespace

void Store::record_winner_ways(RunId run, const std::vector<WinnerWay>& ways) {
  connection_->write([&] {
    {
      Query query = connection_->query("DELETE FROM winner_step WHERE run_id = ?");
      query.bind(run).run();
    }
    for (const WinnerWay& way : ways) {
      for (int position = 0; position < static_cast<int>(way.steps.size()); ++position) {
        insert_step(*connection_, run, way, position);
      }
    }
  });
}

std::vector<WinnerWay> Store::winner_ways(RunId run) const {
  return connection_->read([&] {
    // The default first, then the milestone.
    Query query = connection_->query(
        "SELECT start, winner_id, config, changes, p50_us, ratio, ratio_low, ratio_high, pairs, "
        "note"
        " FROM winner_step WHERE run_id = ? AND winner_id ="
        " (SELECT candidate_id FROM elite_rank WHERE run_id = ? AND rank = 1)"
        " ORDER BY start <> 'default', start, position");
    query.bind(run).bind(run);
    std::vector<WinnerWay> ways;
    while (query.next()) {
      if (ways.empty() || ways.back().start != query.text(0)) {
        ways.push_back({.start = query.text(0), .winner = query.integer(1)});
      }
      ways.back().steps.push_back({.config_json = query.text(2),
                                   .changes = changes_from(query.text(3)),
                                   .p50_us = query.real(4),
                                   .ratio = query.real(5),
                                   .ratio_low = query.real(6),
                                   .ratio_high = query.real(7),
                                   .pairs = query.small(8),
                                   .note = query.text(9)});
    }
    return ways;
  });
}

void Store::record_winner_units(RunId run, CandidateId winner,
                                const std::map<std::string, double>& percent) {
  connection_->write([&] {
    {
      Query query = connection_->query("DELETE FROM winner_unit WHERE run_id = ?");
      query.bind(run).run();
    }
    for (const auto& [metric, value] : percent) {
      Query query = connection_->query(
          "INSERT INTO winner_unit (run_id, winner_id, metric, percent) VALUES (?, ?, ?, ?)");
      query.bind(run).bind(winner).bind(metric).bind(value).run();
    }
  });
}

std::map<std::string, double> Store::winner_units(RunId run) const {
  return connection_->read([&] {
    Query query = connection_->query(
        "SELECT metric, percent FROM winner_unit WHERE run_id = ? AND winner_id ="
        " (SELECT candidate_id FROM elite_rank WHERE run_id = ? AND rank = 1)");
    query.bind(run).bind(run);
    std::map<std::string, double> percent;
    while (query.next()) percent[query.text(0)] = query.real(1);
    return percent;
  });
}

}  // namespace evo
