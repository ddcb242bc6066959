// evo-tune: evolves the macros of a kernel template to find the fastest correct kernel.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>
#include <set>

#include "db/lock_wait.hpp"
#include "engine/core/hash.hpp"
#include "engine/evolve/max_in_flight.hpp"
#include "engine/gate/correctness/coverage.hpp"
#include "engine/run/device_spread.hpp"
#include "engine/run/gpu_text.hpp"
#include "engine/run/profile_gate.hpp"
#include "engine/run/run_setup.hpp"
#include "engine/run/steadiness.hpp"
#include "tools/answers/elite_answers.hpp"
#include "tools/cli/full_version.hpp"
#include "tools/cli/stop_signals.hpp"
#include "tools/cli/tool_main.hpp"
#include "tools/doctor/doctor.hpp"
#include "tools/tune/elite_gates.hpp"
#include "tools/tune/policy_text.hpp"
#include "tools/tune/run_report.hpp"
#include "tools/tune/tune_options.hpp"
#include "tools/tune/winner_ways_run.hpp"

namespace evo {
namespace {

using OrderedJson = nlohmann::ordered_json;

/// The default of --offspring. A search for several shapes shares outcomes between the shapes, so
/// it needs fewer candidates than separate runs.
std::size_t default_offspring(std::size_t shapes) {
  constexpr std::size_t kOfOneShape = 8;
  return kOfOneShape + (shapes - 1);
}

/// The seeds and shapes of the best kernel's checks; empty if there is no kernel.
std::string coverage_of_winner(const Store& store, const Elite& elite) {
  if (elite.members().empty()) return {};
  return coverage_text(store.evaluation(elite.members().front().id).record.checks);
}

/// Reports the candidates that only the policy rejected and, with --time-policy-rejects, the time
/// that the policy costs. Returns the report as text.
std::string report_policy(Workbench& bench, Store& store, RunId run, std::size_t shape,
                          const TuneOptions& options, const TuneReport& report,
                          const Elite& elite) {
  const PolicyRejects rejects = policy_rejects(bench, store, run, shape);
  const RejectionSummary summary = rejections(store, run);
  std::string text = policy_rejects_text(rejects, static_cast<std::size_t>(summary.evaluated),
                                         static_cast<std::size_t>(summary.policy_only));
  std::optional<PolicyCost> cost;
  const TimeKind kind = bench.task().device().time_kind;
  const bool timed = options.time_policy_rejects > 0 && bench.has_device() &&
                     !rejects.rejects.empty() && !elite.members().empty() && !stop_requested();
  if (timed) {
    report.say("timing the candidates that only the policy rejected");
    cost = policy_cost(bench, rejects, elite.members().front(), options.time_policy_rejects, shape);
    const std::string line = policy_cost_text(*cost, kind);
    store.record_event(run, "policy cost", line.substr(0, line.size() - 1));
    text += line;
  }
  if (!rejects.rejects.empty()) report.emit(policy_json(rejects, cost, kind));
  return text;
}

/// Throws InputError for an invalid objective, or one that needs an energy counter that the device
/// lacks.
void require_objective(const TuneOptions& options, const DeviceInfo* device) {
  const Objective objective(options.tuner.objective);
  if (!objective.uses_energy() || (device != nullptr && device->counts_energy)) return;
  throw InputError("--objective " + options.tuner.objective + ": energy is not supported on " +
                   (device != nullptr ? device->name : std::string("--device none")) +
                   ": it requires a GPU whose driver counts energy "
                   "(NVIDIA, Volta or newer, with libnvidia-ml.so.1)");
}

/// Prints the result for one shape.
void print_result(const Store& store, RunId run, const TuneOptions& options,
                  const TuneReport& report, const RunProgress& progress, const Elite& elite_now,
                  const std::string& policy) {
  const std::string checked = coverage_of_winner(store, elite_now);
  report.emit({{"event", "finished"},
               {"run", run},
               {"checked", checked},
               {"evaluated", progress.evaluated},
               {"green", progress.green},
               {"elapsed_s", progress.elapsed_s}});
  if (options.json) return;
  report.say("");
  // Before the first generation is finished, run_elite() returns the green kernels in the order of
  // their times.
  const RunElite stored = run_elite(store, run);
  if (stored.rows.empty()) {
    const Answer why = rejections_answer(store.run(run), rejections(store, run));
    std::cout << why.title << '\n';
    print_text(std::cout, why.table);
    std::cout << why.notes << policy;
    return;
  }
  const Answer elite = elite_answer(stored);
  std::cout << elite.title << '\n';
  print_text(std::cout, elite.table);
  std::cout << elite.notes;
  std::cout << steadiness_text(store.generations(run), stored.rows)
            << gpu_text(gpu_summary(store, run));
  if (!checked.empty()) std::cout << "the winner's checks: " << checked << '\n';
  std::cout << policy;
  std::cout << "export the winner: evo-export --db " << options.db << " --run " << run
            << " --rank 1 --out DIR\n";
}

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

/// Measures and prints why the winner of each shape won. Does nothing after an interrupted search
/// or if --explain turns it off. If the run is out of time or its objective is not the time, only
/// records this reason. Returns false if the user interrupts the measurement.
bool explain_winners(Workbench& bench, Store& store, const Tuner& tuner,
                     const std::vector<RunId>& runs, TunerEnd end, const TuneOptions& options,
                     const TuneReport& report) {
  const double elapsed_s = tuner.progress().elapsed_s;
  const std::optional<double> wanted_s =
      explain_seconds(options.explain, std::max(elapsed_s, seconds_of_run(store, runs.front())));
  if (!wanted_s || end == TunerEnd::kInterrupted) return true;
  const double seconds = std::min(*wanted_s, options.tuner.max_seconds - elapsed_s);
  for (std::size_t shape = 0; shape < runs.size(); ++shape) {
    if (end == TunerEnd::kOutOfTime || seconds <= 0) {
      store.record_event(runs[shape], kNoWayEvent, "the run was out of time");
    } else if (!Objective(options.tuner.objective).is_time()) {
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
  const bool measures =
      bench.has_device() && bench.task().device().time_kind == TimeKind::kMeasured;
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

/// Runs the search, from the first generation to the printed result.
ExitCode search(Workbench& bench, Store& store, OpenRun open, TuneReport& report,
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
  for (std::size_t shape = 0; shape < open.ids.size() && bench.interpreted().has_interpreter() &&
                              end != TunerEnd::kInterrupted;
       ++shape) {
    if (!interpret_elite(bench, store, tuner, open.ids[shape], shape, report)) {
      end = TunerEnd::kInterrupted;
    }
  }
  if (is_whole && options.elite.profile) {
    for (std::size_t shape = 0; shape < open.ids.size() && end != TunerEnd::kInterrupted; ++shape) {
      const bool done = profile_elite(bench, store, tuner, open.ids[shape], shape, report);
      if (!done) end = TunerEnd::kInterrupted;
    }
  }
  if (!explain_winners(bench, store, tuner, open.ids, end, options, report)) {
    end = TunerEnd::kInterrupted;
  }
  bool all_green = true;
  for (std::size_t shape = 0; shape < open.ids.size(); ++shape) {
    const RunId run = open.ids[shape];
    const Elite& elite = tuner.elite(shape);
    all_green = all_green && !elite_of_run(store, run).empty();
    std::string policy = report_policy(bench, store, run, shape, options, report, elite);
    // The policy rejects the same candidates on all shapes, so they are printed once, unless
    // --time-policy-rejects times them on each shape.
    if (shape > 0 && options.time_policy_rejects == 0) policy.clear();
    if (is_whole && options.elite.energy) {
      measure_energy(bench, store, {run, shape, elite.members()}, report);
    }
    store.finish_run(
        run, end == TunerEnd::kInterrupted ? RunStatus::kInterrupted : RunStatus::kFinished);
    print_result(store, run, options, report, tuner.progress(), elite, policy);
  }
  if (end == TunerEnd::kInterrupted) {
    report.say("interrupted; everything is saved: continue with --resume");
    return ExitCode::kInterrupted;
  }
  return !all_green && bench.has_device() ? ExitCode::kNothingGreen : ExitCode::kGreen;
}

ExitCode tune(const TuneOptions& options) {
  Store store = Store::open_waiting(options.db, {.stop = &stop_requested()});
  RunId run = 0;
  const EventSink on_event = [&](const std::string& kind, const std::string& text) {
    if (run > 0) store.record_event(run, kind, text);
  };
  Services services = options.session.open_services(store, on_event);
  const std::string not_interpreted =
      options.session.add_interpreter(services, options.interpret, on_event);
  const DeviceInfo* device = device_of(services);
  require_objective(options, device);
  TuneReport report({.json = options.json,
                     .quiet = options.quiet,
                     .kind = device != nullptr ? device->time_kind : TimeKind::kMeasured,
                     .compilers = options.session.job_count()});
  report.notice(honesty_line(device));
  const std::uint64_t check_seed = options.check_seed != 0 ? options.check_seed : fresh_seed();
  WorkbenchOptions bench_options = options.session.bench_options(services, check_seed);
  bench_options.compiles_initial_population = !options.resume;
  if (Objective(options.tuner.objective).uses_energy()) {
    bench_options.energy_s = kCandidateEnergy_s;
  }
  report.notice(not_interpreted);
  Workbench bench(bench_options, std::move(services));
  if (options.elite.profile) require_profile(bench);
  RunRequest request{.tuner = options.tuner,
                     .check_seed = check_seed,
                     .cold = options.session.cold,
                     .evo_version = full_version(),
                     .warm_start = options.warm_start,
                     .group = ContentHash().add(std::to_string(fresh_seed())).hex()};
  if (!options.has_offspring)
    request.tuner.offspring = default_offspring(bench.task().shape_count());
  OpenRun open = options.resume ? continue_run(store, bench, request, *options.resume)
                                : begin_run(store, bench, request);
  run = open.ids.front();
  tell_there_is_something_to_save();
  for (const std::string& text : bench.task().warnings()) {
    report.notice(text);
    store.record_event(run, "warning", text);
  }
  if (options.resume) {
    report.say("resuming run " + std::to_string(run) + ": " + std::to_string(open.kept()) +
               " evaluations are kept");
  }
  try {
    return search(bench, store, std::move(open), report, options);
  } catch (const DbError& error) {
    throw DbError(std::string(error.what()) + "\nrun " + std::to_string(run) +
                  " stopped here; once the database can be written, continue it with --resume");
  }
}

/// The number of compilers from which the default of --max-in-flight is computed at the start of a
/// run. If other hosts may compile, assumes at least kElsewhere compilers, because hosts connect
/// later.
std::size_t compilers_of(const TuneOptions& options) {
  constexpr std::size_t kElsewhere = 64;
  const std::size_t here = options.session.job_count();
  return options.session.remote.wants_workers() ? std::max(here, kElsewhere) : here;
}

ExitCode run(int argc, char** argv) {
  TuneOptions options;
  CLI::App app(kTuneDescription);
  declare(app, options);
  if (const auto done = parse_command_line(app, argc, argv, tune_value_lists())) return *done;
  if (app.got_subcommand("doctor")) return run_doctor(options.json || options.doctor_json);
  (void)explain_seconds(options.explain, 0);
  options.has_offspring = app.count("--offspring") > 0;
  if (app.count("--max-in-flight") == 0) {
    options.tuner.max_in_flight =
        app.count("--offspring") > 0
            ? options.tuner.offspring
            : default_max_in_flight(compilers_of(options), strategy_learns(options.tuner.strategy));
  }
  options.take_resumption(app);
  handle_stop_signals();
  return tune(options);
}

}  // namespace
}  // namespace evo

int main(int argc, char** argv) {
  return evo::tool_main("evo-tune", [&] { return evo::run(argc, argv); });
}
