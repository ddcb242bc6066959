#include "tools/tune/tune_search.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/run/device_spread.hpp"
#include "engine/run/objective.hpp"
#include "tools/cli/stop_signals.hpp"
#include "tools/tune/elite_gates.hpp"
#include "tools/tune/tune_result.hpp"
#include "tools/tune/winner_ways_run.hpp"

namespace evo {
namespace {

/// Prints how many configurations are judged first because they were good in earlier runs, and the
/// numbers of these runs.
void report_known(const std::vector<KnownCandidate>& known, const TuneReport& report) {
  if (known.empty()) return;
  std::set<RunId> runs;
  for (const KnownCandidate& one : known) runs.insert(one.run);
  const std::string text = fmt::format(
      "warm start: "
      "{} configurations of run{} {} are judged first (turn this off by --no-warm-start)",
      known.size(), runs.size() > 1 ? "s" : "", fmt::join(runs, ", "));
  report.notice(text);
}

/// Measures and prints why the winner of each shape won. Does nothing if --explain turns it off. If
/// the run is out of time or its objective is not the time, only records this reason. Returns false
/// if the user interrupts the measurement.
bool explain_winners(Workbench& bench, Store& store, const Tuner& tuner, const OpenRun& open,
                     TunerEnd end, const std::string& explain, const TuneReport& report) {
  const std::vector<RunId>& runs = open.ids;
  const double elapsed_s = tuner.progress().elapsed_s;
  const std::optional<double> wanted_s =
      explain_seconds(explain, std::max(elapsed_s, seconds_of_run(store, runs.front())));
  if (!wanted_s) return true;
  const double seconds = std::min(*wanted_s, open.tuner.max_seconds - elapsed_s);
  for (std::size_t shape = 0; shape < runs.size(); ++shape) {
    if (end == TunerEnd::kOutOfTime || seconds <= 0) {
      store.record_event(runs[shape], kNoWayEvent, "the run was out of time");
    } else if (!Objective(open.tuner.objective).is_time()) {
      store.record_event(runs[shape], kNoWayEvent,
                         "steps to the winner are timed only if the objective is the time");
    } else if (!explain_winner(bench, store, tuner.elite(shape),
                               {runs[shape], shape, seconds / static_cast<double>(runs.size())},
                               report)) {
      return false;
    }
  }
  return true;
}

/// Prints how much the times of the run's devices differ, if the run measures on several devices.
void tell_device_spread(Workbench& bench, Store& store, const Tuner& tuner, RunId run,
                        const TuneReport& report) {
  const EliteMember* control = tuner.control();
  const bool measures = has_device(bench) && bench.task().device().time_kind == TimeKind::kMeasured;
  if (!measures || bench.devices().size() < 2 || control == nullptr || stop_requested()) return;
  try {
    const std::string text = spread_text(bench.wait(time_on_each_device(bench, control->kernel)));
    if (text.empty()) return;
    report.say("times of the control kernel on the devices: " + text);
    report.emit({{"event", "notice"}, {"text", text}});
    store.record_event(run, kDeviceSpreadEvent, text);
  } catch (const Interrupted&) {
    // The search is finished. The same interruption ends the later steps, which report it.
  }
}

/// Applies the last gates to the elites. Returns false if the user interrupts them.
bool hold_elites(Workbench& bench, Store& store, Tuner& tuner, const std::vector<RunId>& runs,
                 bool profiles, const TuneReport& report) {
  for (std::size_t shape = 0; bench.interpreted().has_interpreter() && shape < runs.size();
       ++shape) {
    if (!interpret_elite(bench, store, tuner, runs[shape], shape, report)) return false;
  }
  for (std::size_t shape = 0; profiles && shape < runs.size(); ++shape) {
    if (!profile_elite(bench, store, tuner, runs[shape], shape, report)) return false;
  }
  return true;
}

}  // namespace

bool search_and_report(Workbench& bench, Store& store, OpenRun open, TuneReport& report,
                       const TuneOptions& options) {
  describe_run(bench, report, open.ids);
  report_known(open.tuner.known, report);
  report.watch(bench);
  Tuner tuner(bench, store, open.ids, open.tuner, report);
  TunerEnd end = tuner.run(std::move(open.histories), stop_requested());
  const PhaseTimes times = report.times();
  report.close();
  report_speed(times, tuner.progress(), report);
  if (tuner.progress().left_out > 0) {
    report.say("out of time: " + std::to_string(tuner.progress().left_out) +
               " green candidates of the last generation were not compared with the elite");
  }
  const bool is_whole = end == TunerEnd::kFinished || end == TunerEnd::kExhausted;
  if (is_whole) tell_device_spread(bench, store, tuner, open.ids.front(), report);
  if (!is_whole && options.elite.any()) {
    report.say(
        "energy and profile of the elite were not measured, because the run ended early; "
        "evo-judge can measure them");
  }
  if (end != TunerEnd::kInterrupted &&
      (!hold_elites(bench, store, tuner, open.ids, is_whole && options.elite.profile, report) ||
       !explain_winners(bench, store, tuner, open, end, options.explain, report))) {
    end = TunerEnd::kInterrupted;
  }
  for (std::size_t shape = 0; shape < open.ids.size(); ++shape) {
    const RunId run = open.ids[shape];
    const Elite& elite = tuner.elite(shape);
    std::string policy = report_policy(bench, store, run, shape, options, report, elite);
    // The policy rejects the same candidates on all shapes, so they are printed once, unless
    // --time-policy-rejects times them on each shape.
    if (shape > 0 && options.time_policy_rejects == 0) policy.clear();
    if (is_whole && options.elite.energy) {
      measure_energy(bench, store, {run, shape, elite.members()}, report);
    }
    store.finish_run(run, end == TunerEnd::kInterrupted || end == TunerEnd::kOutOfTime
                              ? RunStatus::kInterrupted
                              : RunStatus::kFinished);
    print_result(store, run, options, report, tuner.progress(), elite, policy);
  }
  if (end == TunerEnd::kOutOfTime) report.say_stopped("out of time");
  return end != TunerEnd::kInterrupted;
}

}  // namespace evo
