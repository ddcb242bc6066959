#include "tools/answers/winner_ways.hpp"

#include <fmt/format.h>

#include "db/queries.hpp"

namespace evo {
namespace {

using Ordered = nlohmann::ordered_json;

/// The winner's time in µs; nullopt if there is no winner.
std::optional<double> time_of_winner(const Store& store, RunId run) {
  const std::vector<EliteRow> elite = elite_of_run(store, run);
  if (elite.empty()) return std::nullopt;
  return elite.front().p50_us;
}

/// Why the database has no steps to the winner of this run.
std::string why_none(const Store& store, const StoredRun& run) {
  std::string why;
  for (const StoredEvent& event : store.events(run.id)) {
    if (event.kind == kNoWayEvent) why = event.text;
  }
  return why.empty() ? "evo-tune did not time the steps to the winner of this run" : why;
}

std::string changes_text(const WinnerStep& step) {
  std::string text;
  for (const MacroChange& change : step.changes) {
    text +=
        fmt::format("{}{} {} → {}", text.empty() ? "" : ", ", change.macro, change.from, change.to);
  }
  return text;
}

double percent_of(double ratio) { return 100 * (ratio - 1); }

std::string step_line(const WinnerStep& step, double level_us) {
  std::string line = fmt::format("  {:8.2f} us  {:+6.1f} %", level_us, percent_of(step.ratio));
  if (step.pairs > 0) {
    line += fmt::format(" ({:+.1f} to {:+.1f})", percent_of(step.ratio_low),
                        percent_of(step.ratio_high));
  }
  line += "  " + changes_text(step);
  if (!step.note.empty()) line += " (" + step.note + ")";
  return line + "\n";
}

std::string way_text(const WinnerWay& way, double winner_us, TimeKind kind) {
  std::string text = fmt::format("why the winner won, from {} {} to candidate {}, by {}\n",
                                 way.start == "default" ? "the" : "the milestone", way.start,
                                 way.winner, how_timed(way, kind));
  if (!has_steps(way)) return text + "  the start is the winner\n";
  const std::vector<double> levels = levels_of(way, winner_us);
  text += fmt::format("  {:8.2f} us  the start\n", levels.front());
  for (std::size_t i = 1; i < way.steps.size(); ++i) text += step_line(way.steps[i], levels[i]);
  return text;
}

Ordered step_json(const WinnerStep& step, double level_us) {
  Ordered changes = Ordered::array();
  for (const MacroChange& change : step.changes) {
    changes.push_back({{"macro", change.macro}, {"from", change.from}, {"to", change.to}});
  }
  return {{"changes", std::move(changes)},
          {"level_us", level_us},
          {"p50_us", step.p50_us},
          {"ratio", step.ratio},
          {"ratio_low", step.ratio_low},
          {"ratio_high", step.ratio_high},
          {"pairs", step.pairs},
          {"note", step.note},
          {"config", Ordered::parse(step.config_json)}};
}

}  // namespace

std::vector<double> levels_of(const WinnerWay& way, double winner_us) {
  std::vector<double> levels(way.steps.size(), winner_us);
  for (std::size_t i = levels.size() - 1; i > 0; --i)
    levels[i - 1] = levels[i] / way.steps[i].ratio;
  return levels;
}

bool has_steps(const WinnerWay& way) { return way.steps.size() > 1; }

std::string how_timed(const WinnerWay& way, TimeKind kind) {
  if (kind == TimeKind::kPredicted) return "PREDICTED times";
  bool has_unpaired = false;
  for (std::size_t i = 1; i < way.steps.size(); ++i) {
    const WinnerStep& step = way.steps[i];
    has_unpaired = has_unpaired || (step.pairs == 0 && step.ratio != 1);
  }
  return has_unpaired ? "A/B pairs where an interval is shown, else separately measured times"
                      : "A/B pairs";
}

std::string ways_text(const Store& store, const StoredRun& run) {
  const std::optional<double> winner_us = time_of_winner(store, run.id);
  if (!winner_us) return {};
  const std::vector<WinnerWay> ways = store.winner_ways(run.id);
  if (ways.empty()) {
    return "why the winner won, step by step: not measured; " + why_none(store, run) + "\n";
  }
  std::string text;
  for (const WinnerWay& way : ways) text += way_text(way, *winner_us, run.info.device.time_kind);
  return text;
}

Ordered ways_json(const Store& store, const StoredRun& run) {
  Ordered json = {{"ways", Ordered::array()}, {"why_no_ways", nullptr}};
  const std::optional<double> winner_us = time_of_winner(store, run.id);
  if (!winner_us) return json;
  for (const WinnerWay& way : store.winner_ways(run.id)) {
    const std::vector<double> levels = levels_of(way, *winner_us);
    Ordered steps = Ordered::array();
    for (std::size_t i = 0; i < levels.size(); ++i) {
      steps.push_back(step_json(way.steps[i], levels[i]));
    }
    json["ways"].push_back({{"start", way.start},
                            {"winner", way.winner},
                            {"timed", how_timed(way, run.info.device.time_kind)},
                            {"steps", std::move(steps)}});
  }
  if (json["ways"].empty()) json["why_no_ways"] = why_none(store, run);
  return json;
}

}  // namespace evo
