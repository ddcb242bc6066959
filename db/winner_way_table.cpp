#include "db/winner_way_table.hpp"

#include <nlohmann/json.hpp>

#include "db/connection.hpp"

namespace evo {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(MacroChange, macro, from, to)

namespace {

WinnerStep read_step(Query& row) {
  WinnerStep step;
  std::string changes;
  row.read(step.config_json, changes, step.p50_us, step.ratio, step.ratio_low, step.ratio_high,
           step.pairs, step.note);
  nlohmann::json::parse(changes).get_to(step.changes);
  return step;
}

}  // namespace

void WinnerWayTable::record_winner_ways(RunId run, const std::vector<WinnerWay>& ways) {
  db_->write([&] {
    db_->run("DELETE FROM winner_step WHERE run_id = ?", run);
    for (const WinnerWay& way : ways) {
      int position = 0;
      for (const WinnerStep& step : way.steps) {
        db_->run(
            "INSERT INTO winner_step (run_id, start, position, winner_id, config, changes, p50_us,"
            " ratio, ratio_low, ratio_high, pairs, note) VALUES (?,?,?,?,?,?,?,?,?,?,?,?)",
            run, way.start, position++, way.winner, step.config_json,
            nlohmann::json(step.changes).dump(), step.p50_us, step.ratio, step.ratio_low,
            step.ratio_high, step.pairs, step.note);
      }
    }
  });
}

std::vector<WinnerWay> WinnerWayTable::winner_ways(RunId run) const {
  return db_->read([&] {
    // The path from the default configuration is returned before the path from a milestone.
    Query row = db_->query(
        "SELECT start, winner_id, config, changes, p50_us, ratio, ratio_low, ratio_high, pairs,"
        " note FROM winner_step WHERE run_id = ?1 AND winner_id ="
        " (SELECT candidate_id FROM elite_rank WHERE run_id = ?1 AND rank = 1)"
        " ORDER BY start <> 'default', start, position",
        run);
    std::vector<WinnerWay> ways;
    while (row.next()) {
      WinnerWay way;
      row.read(way.start, way.winner);
      if (ways.empty() || ways.back().start != way.start) ways.push_back(std::move(way));
      ways.back().steps.push_back(read_step(row));
    }
    return ways;
  });
}

void WinnerWayTable::record_winner_units(RunId run, CandidateId winner,
                                         const std::map<std::string, double>& percent) {
  db_->write([&] {
    db_->run("DELETE FROM winner_unit WHERE run_id = ?", run);
    for (const auto& [metric, value] : percent) {
      db_->run("INSERT INTO winner_unit (run_id, winner_id, metric, percent) VALUES (?,?,?,?)", run,
               winner, metric, value);
    }
  });
}

std::map<std::string, double> WinnerWayTable::winner_units(RunId run) const {
  return db_->read([&] {
    Query row = db_->query(
        "SELECT metric, percent FROM winner_unit WHERE run_id = ?1 AND winner_id ="
        " (SELECT candidate_id FROM elite_rank WHERE run_id = ?1 AND rank = 1)",
        run);
    std::map<std::string, double> percent;
    while (row.next()) {
      const auto metric = row.read<std::string>();
      percent[metric] = row.read<double>();
    }
    return percent;
  });
}

}  // namespace evo
