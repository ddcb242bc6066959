#include "tools/tune/winner_ways_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "db/queries.hpp"
#include "engine/core/error.hpp"
#include "engine/run/winner_way.hpp"
#include "engine/worker/interrupted.hpp"
#include "tools/answers/winner_ways.hpp"

namespace evo {
namespace {

/// Explaining the winner (timing the steps that lead to it) takes a tenth of the search's time, but
/// at least kFewestSeconds and at most kMostSeconds. kFewestSeconds is enough to compile the
/// configurations of the steps.
constexpr double kShareOfSearch = 0.1;
constexpr double kFewestSeconds = 5;
constexpr double kMostSeconds = 20;
/// The path from the default configuration is measured first. If another path follows, the first
/// path gets this fraction of the time.
constexpr double kShareOfFirst = 0.7;

KnownTimes known_times(const Store& store, RunId run, const Space& space) {
  KnownTimes known;
  store.for_each_evaluation(run, [&](const EvaluationRecord& evaluation) {
    if (evaluation.is_for_want_of_compiler()) return;
    const Candidate candidate = space.candidate_from_json(evaluation.config_json);
    if (evaluation.rejection || evaluation.withdrawal) {
      known.emplace(candidate, std::nullopt);
    } else if (evaluation.timing) {
      known.emplace(candidate, evaluation.timing->p50_us);
    }
  });
  return known;
}

/// The configurations from which paths to the winner start: the default configuration, and the
/// first green milestone if it differs.
std::vector<WayStart> starts_of(const Store& store, RunId run, const Space& space) {
  std::vector<WayStart> starts = {{"default", space.defaults()}};
  for (const MilestoneResult& result : milestone_results(store, run)) {
    if (!result.p50_us) continue;
    const Candidate candidate = space.candidate_from_json(result.evaluation.config_json);
    if (candidate != starts.front().candidate)
      starts.push_back({result.evaluation.milestone, candidate});
    break;
  }
  return starts;
}

/// The member of the elite that the database ranks first; null if there is none.
const EliteMember* ranked_first(const Store& store, RunId run, const Elite& elite) {
  const std::vector<EliteRow> rows = elite_of_run(store, run);
  if (rows.empty()) return nullptr;
  const auto found = std::ranges::find_if(elite.members(), [&](const EliteMember& member) {
    return member.id == rows.front().candidate;
  });
  return found != elite.members().end() ? &*found : nullptr;
}

/// Stores how much the winner uses each unit of an SM, if times are predicted.
void record_units(Workbench& bench, Store& store, const EliteMember& winner,
                  const ExplainedRun& explained) {
  if (bench.task().device().time_kind != TimeKind::kPredicted) return;
  const auto answer =
      bench.wait(bench.take_home().predicted_profile(winner.kernel, explained.shape));
  const auto* profile = std::get_if<PredictedProfile>(&answer);
  if (profile != nullptr && !profile->rejection) {
    store.record_winner_units(explained.run, winner.id, profile->percent);
  }
}

void tell_ways(const StoredRun& run, const Store& store, const TuneReport& report) {
  nlohmann::ordered_json event = {{"event", "explained"}, {"run", run.id}};
  event.update(ways_json(store, run));
  report.emit(event);
  for (const WinnerWay& way : store.winner_ways(run.id)) {
    if (!has_steps(way)) continue;
    report.say(fmt::format("the path from {} to the winner has {} step{}: see evo-elite insight",
                           way.start == "default" ? "the default" : "\"" + way.start + "\"",
                           way.steps.size() - 1, way.steps.size() == 2 ? "" : "s"));
  }
}

}  // namespace

std::optional<double> explain_seconds(const std::string& option, double elapsed_s) {
  if (option == "none") return std::nullopt;
  if (option == "auto") {
    return std::clamp(kShareOfSearch * elapsed_s, kFewestSeconds, kMostSeconds);
  }
  double seconds = 0;
  const char* end = option.data() + option.size();
  const auto read = std::from_chars(option.data(), end, seconds);
  if (read.ec != std::errc() || read.ptr != end || !(seconds > 0)) {
    throw InputError("--explain '" + option + "': allowed: auto, none, or seconds above 0");
  }
  return seconds;
}

double seconds_of_run(const Store& store, RunId run) {
  double wall_ms = 0;
  for (const StoredGeneration& generation : store.generations(run)) {
    wall_ms += generation.record.wall_ms;
  }
  return wall_ms / 1e3;
}

bool explain_winner(Workbench& bench, Store& store, const Elite& elite,
                    const ExplainedRun& explained, const TuneReport& report) {
  const EliteMember* winner = ranked_first(store, explained.run, elite);
  if (winner == nullptr || !has_device(bench)) return true;
  const Space& space = bench.task().space(explained.shape);
  const std::vector<WayStart> starts = starts_of(store, explained.run, space);
  WayFinder finder(bench, *winner, known_times(store, explained.run, space), explained.shape);
  std::vector<WinnerWay> ways;
  std::string missing;
  try {
    const SteadyTime begin = bench.loop().now();
    for (const WayStart& start : starts) {
      const std::chrono::duration<double> used = bench.loop().now() - begin;
      const bool is_last = &start == &starts.back();
      const double share = is_last ? 1 : kShareOfFirst;
      FoundWay found = finder.find(start, share * (explained.seconds - used.count()));
      if (found.way) {
        ways.push_back(*std::move(found.way));
      } else {
        missing += (missing.empty() ? "" : "; ") + found.why_not;
      }
    }
    record_units(bench, store, *winner, explained);
  } catch (const Interrupted&) {
    store.record_event(explained.run, kNoWayEvent,
                       "the run was interrupted before the steps were timed");
    return false;
  }
  store.record_winner_ways(explained.run, ways);
  if (ways.empty()) store.record_event(explained.run, kNoWayEvent, missing);
  tell_ways(store.run(explained.run), store, report);
  return true;
}

}  // namespace evo
