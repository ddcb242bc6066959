// evo-tune: evolves the macros of a kernel template until the fastest correct kernel is found.

#include <fmt/format.h>

#include <iostream>
#include <nlohmann/json.hpp>

#include "db/lock_wait.hpp"
#include "engine/coordinator/card_text.hpp"
#include "engine/coordinator/elite_energy.hpp"
#include "engine/coordinator/profile_gate.hpp"
#include "engine/coordinator/run_setup.hpp"
#include "engine/coordinator/steadiness.hpp"
#include "engine/core/hash.hpp"
#include "engine/evolve/window.hpp"
#include "engine/gate/coverage.hpp"
#include "tools/evo_elite_answers.hpp"
#include "tools/evo_tune_policy.hpp"
#include "tools/evo_tune_report.hpp"
#include "tools/full_version.hpp"
#include "tools/number_options.hpp"
#include "tools/session_options.hpp"
#include "tools/stop_signals.hpp"
#include "tools/tool_main.hpp"

namespace evo {
namespace {

using OrderedJson = nlohmann::ordered_json;

struct Options {
  SessionOptions session;
  TunerOptions tuner;
  std::string db = "evo.db";
  std::optional<Resumption> resume = {};
  RunId resume_run = 0;
  std::uint64_t check_seed = 0;  ///< 0: a fresh one
  bool json = false;
  bool quiet = false;
  bool profile = false;
  std::size_t time_policy_rejects = 0;
};

std::string strategy_list() {
  std::string list;
  for (const std::string_view name : strategy_names()) {
    list += (list.empty() ? "" : ", ") + std::string(name);
  }
  return list;
}

constexpr const char* kDescription =
    "evo-tune: evolves the macros of a CUDA kernel template on your GPU, believing nothing it has "
    "not compiled, checked and timed.\nWithout a GPU, kernels run on a virtual one: correctness is "
    "judged, times are predicted.";

void declare(CLI::App& app, Options& options) {
  options.session.declare(app);
  app.add_option("--generations", options.tuner.generations, "generations")
      ->capture_default_str()
      ->transform(whole_number(1, 1000000));
  app.add_option("--children", options.tuner.children, "candidates a generation")
      ->capture_default_str()
      ->transform(whole_number(1, 10000));
  app.add_option(
         "--window", options.tuner.window,
         "candidates in flight (default: --children where that is given, else twice --jobs, "
         "8 to 32; without learning eight times)")
      ->transform(whole_number(1, 10000));
  app.add_option("--elite", options.tuner.elite, "kernels kept")
      ->capture_default_str()
      ->transform(whole_number(1, 1000));
  app.add_option("--strategy", options.tuner.strategy, strategy_list())->capture_default_str();
  app.add_option("--objective", options.tuner.objective,
                 "what is made small: time, energy, or an expression over both, such as "
                 "\"time*energy^0.5\" (µs and mJ of a launch)")
      ->capture_default_str();
  app.add_option("--seed", options.tuner.seed, "seed of the search")
      ->capture_default_str()
      ->transform(seed_number());
  app.add_option("--check-seed", options.check_seed,
                 "seed of the inputs of the checks (default: a fresh one)")
      ->transform(seed_number());
  app.add_option("--max-seconds", options.tuner.max_seconds,
                 "end the run after so long, within one launch")
      ->check(seconds_number());
  app.add_option("--db", options.db, "database file")->capture_default_str();
  app.add_option("--resume", options.resume_run,
                 "continue the newest unfinished run on the same inputs, or run N")
      ->expected(0, 1)
      ->transform(row_number());
  app.add_option("--time-policy-rejects", options.time_policy_rejects,
                 "after the search, time this many candidates that only the policy rejected")
      ->transform(whole_number(0, 10000));
  app.add_flag("--profile", options.profile,
               "after the search, hold the elite against \"profile\" of the problem, by Nsight "
               "Compute's counters");
  CLI::Option* json =
      app.add_flag("--json", options.json, "one JSON object a line on standard output");
  app.add_flag("--quiet", options.quiet, "no progress, only the result")->excludes(json);
  app.set_version_flag("--version", "evo-tune " EVO_VERSION);
  app.footer(
      "\nExit codes: 0 a green winner; 1 nothing is green; 2 bad usage or input; "
      "3 toolkit or device missing; 130 interrupted, everything saved.");
}

/// What the checks of the best kernel looked at; empty without one.
std::string coverage_of_winner(const Store& store, const Tuner& tuner) {
  if (tuner.elite().members().empty()) return {};
  return coverage_text(store.evaluation(tuner.elite().members().front().id).record.checks);
}

/// What only the policy rejected, and with --time-policy-rejects what that costs, for people.
std::string report_policy(Harness& harness, Store& store, RunId run, const Options& options,
                          const TuneReport& report, const Tuner& tuner) {
  const PolicyRejects rejects = policy_rejects(harness, store, run);
  const RejectionSummary summary = rejections(store, run);
  std::string text = policy_rejects_text(rejects, static_cast<std::size_t>(summary.evaluated),
                                         static_cast<std::size_t>(summary.policy_only));
  std::optional<PolicyCost> cost;
  const TimeKind kind = harness.device().time_kind;
  const bool timed = options.time_policy_rejects > 0 && harness.has_device() &&
                     !rejects.rejects.empty() && !tuner.elite().members().empty() &&
                     !stop_requested();
  if (timed) {
    report.say("timing what only the policy rejected");
    cost =
        policy_cost(harness, rejects, tuner.elite().members().front(), options.time_policy_rejects);
    const std::string line = policy_cost_text(*cost, kind);
    store.record_event(run, "policy cost", line.substr(0, line.size() - 1));
    text += line;
  }
  if (!rejects.rejects.empty()) report.emit(policy_json(rejects, cost, kind));
  return text;
}

/// Whether there is time left for the energy of an elite.
bool has_time_for_energy(const Options& options, const Tuner& tuner) {
  constexpr double kOverhead = 2;  // settling, and the counter's updates
  const auto members = static_cast<double>(tuner.elite().members().size());
  return tuner.progress().elapsed_s + kOverhead * kEliteEnergy_s * members <
         options.tuner.max_seconds;
}

/// Joules of the elite, stored; in a run that is out of time nobody measures them.
void report_energy(Harness& harness, Store& store, RunId run, const TuneReport& report,
                   const Tuner& tuner) {
  std::vector<CandidateId> known;
  for (const EliteRow& row : elite_of_run(store, run)) {
    if (row.launch_mj) known.push_back(row.candidate);
  }
  const std::string why = measure_elite_energy(harness, store, tuner.elite().members(), known);
  if (!why.empty()) report.say(why);
}

/// Profiles of the elite, stored; the first that cannot be had ends it with a line.
void report_profiles(Harness& harness, Store& store, const TuneReport& report, const Tuner& tuner) {
  const auto& elite = tuner.elite().members();
  for (std::size_t rank = 0; rank < elite.size(); ++rank) {
    Profiled profiled;
    try {
      profiled = profile_gate(harness, elite[rank].kernel);
    } catch (const Interrupted&) {
      profiled.left_out = "interrupted";
    }
    if (!profiled.record) {
      report.say("the profile gate is left out: " + profiled.left_out);
      report.emit(
          {{"event", "notice"}, {"text", "the profile gate is left out: " + profiled.left_out}});
      return;
    }
    store.record_profile(elite[rank].id, *profiled.record);
    const ProfileRecord& record = *profiled.record;
    const std::string line =
        fmt::format("profile gate: rank {}, candidate {}, {}: {} ({}{})", rank + 1, elite[rank].id,
                    record.passed ? "passed" : "REJECTED", metrics_text(record), record.tool,
                    record.kind == TimeKind::kPredicted ? ", PREDICTED" : "");
    report.say(record.passed ? line : line + "; asked is " + record.require);
    report.emit({{"event", "profile"},
                 {"candidate", elite[rank].id},
                 {"kind", to_string(record.kind)},
                 {"passed", record.passed}});
  }
}

/// Throws InputError for an objective that is none, or asks for what the device does not count.
void require_objective(const Options& options, const DeviceInfo* device) {
  const Objective objective(options.tuner.objective);
  if (!objective.uses_energy() || (device != nullptr && device->counts_energy)) return;
  throw InputError("--objective " + options.tuner.objective + ": energy is not supported on " +
                   (device != nullptr ? device->name : std::string("--device none")) +
                   ": it takes a card whose driver counts energy (NVIDIA, Volta or newer, with "
                   "libnvidia-ml.so.1)");
}

void print_result(const Store& store, RunId run, const Options& options, const TuneReport& report,
                  const Tuner& tuner, const std::string& policy) {
  const std::string checked = coverage_of_winner(store, tuner);
  report.emit({{"event", "finished"},
               {"run", run},
               {"checked", checked},
               {"evaluated", tuner.progress().evaluated},
               {"green", tuner.progress().green},
               {"elapsed_s", tuner.progress().elapsed_s}});
  if (options.json) return;
  report.say("");
  if (tuner.elite().members().empty()) {
    const Answer why = rejections_answer(store.run(run), rejections(store, run));
    std::cout << why.title << '\n';
    print_text(std::cout, why.table);
    std::cout << why.notes;
    return;
  }
  const std::vector<EliteRow> rows = elite_of_run(store, run);
  const Answer elite = elite_answer({store.run(run), rows});
  std::cout << elite.title << '\n';
  print_text(std::cout, elite.table);
  std::cout << elite.notes;
  std::cout << steadiness_text(store.generations(run), rows) << card_text(card_summary(store, run));
  if (!checked.empty()) std::cout << "the winner's checks: " << checked << '\n';
  std::cout << policy;
  std::cout << "export the winner: evo-export --db " << options.db << " --run " << run
            << " --rank 1 --out DIR\n";
}

/// The run itself, from its first generation to what it prints.
ExitCode search(Harness& harness, Store& store, OpenRun open, TuneReport& report,
                const Options& options) {
  describe_run(harness, report, open.id);
  report.watch(harness);
  Tuner tuner(harness, store, open.id, open.tuner, report);
  const TunerEnd end = tuner.run(std::move(open.history), stop_requested());
  report.close();
  report_speed(harness, tuner.progress(), report);
  if (tuner.progress().left_out > 0) {
    report.say("out of time: " + std::to_string(tuner.progress().left_out) +
               " green candidates of the last generation were not compared with the elite");
  }
  const std::string policy = report_policy(harness, store, open.id, options, report, tuner);
  if (end == TunerEnd::kFinished || end == TunerEnd::kExhausted) {
    if (has_time_for_energy(options, tuner)) {
      report_energy(harness, store, open.id, report, tuner);
    }
    if (options.profile) report_profiles(harness, store, report, tuner);
  } else if (options.profile) {
    report.say("the profile gate is left out: the run ended early; evo-judge --profile has it");
  }
  store.finish_run(open.id,
                   end == TunerEnd::kInterrupted ? RunStatus::kInterrupted : RunStatus::kFinished);
  print_result(store, open.id, options, report, tuner, policy);
  if (end == TunerEnd::kInterrupted) {
    report.say("interrupted; everything is saved: continue with --resume");
    return ExitCode::kInterrupted;
  }
  return tuner.elite().members().empty() && harness.has_device() ? ExitCode::kNothingGreen
                                                                 : ExitCode::kGreen;
}

ExitCode tune(const Options& options) {
  Store store = Store::open_waiting(options.db, {.stop = &stop_requested()});
  RunId run = 0;
  Services services =
      options.session.open_services(store, [&](const std::string& kind, const std::string& text) {
        if (run > 0) store.record_event(run, kind, text);
      });
  const DeviceInfo* device = services.device ? &services.device->info() : nullptr;
  require_objective(options, device);
  TuneReport report({.json = options.json,
                     .quiet = options.quiet,
                     .kind = device != nullptr ? device->time_kind : TimeKind::kMeasured,
                     .compilers = options.session.job_count()});
  const std::string honesty = honesty_line(device);
  if (!honesty.empty()) {
    report.say(honesty);
    report.emit({{"event", "notice"}, {"text", honesty}});
  }
  const std::uint64_t check_seed = options.check_seed != 0 ? options.check_seed : fresh_seed();
  HarnessOptions harness_options = options.session.harness_options(services, check_seed);
  if (Objective(options.tuner.objective).uses_energy()) {
    harness_options.energy_s = kCandidateEnergy_s;
  }
  Harness harness(harness_options, std::move(services));
  if (options.profile) require_profile(harness);
  const RunRequest request{options.tuner, check_seed, options.session.cold, full_version()};
  OpenRun open = options.resume ? continue_run(store, harness, request, *options.resume)
                                : begin_run(store, harness, request);
  run = open.id;
  tell_there_is_something_to_save();
  for (const std::string& text : harness.warnings()) {
    report.say(text);
    report.emit({{"event", "notice"}, {"text", text}});
    store.record_event(run, "warning", text);
  }
  if (options.resume) {
    report.say("resuming run " + std::to_string(run) + ": " +
               std::to_string(open.history.evaluations.size()) + " evaluations are kept");
  }
  try {
    return search(harness, store, std::move(open), report, options);
  } catch (const DbError& error) {
    throw DbError(std::string(error.what()) + "\nrun " + std::to_string(run) +
                  " stopped here; once the database can be written, continue it with --resume");
  }
}

ExitCode run(int argc, char** argv) {
  Options options;
  CLI::App app(kDescription);
  declare(app, options);
  if (const auto done = parse_command_line(app, argc, argv)) return *done;
  if (app.count("--window") == 0) {
    options.tuner.window =
        app.count("--children") > 0
            ? options.tuner.children
            : default_window(options.session.job_count(), strategy_learns(options.tuner.strategy));
  }
  if (app.count("--resume") > 0) {
    options.resume = Resumption{options.resume_run, options.db, {}};
    for (const CLI::Option* option : app.get_options()) {
      if (option->count() > 0) options.resume->given.push_back(option->get_name());
    }
  }
  handle_stop_signals();
  return tune(options);
}

}  // namespace
}  // namespace evo

int main(int argc, char** argv) {
  return evo::tool_main("evo-tune", [&] { return evo::run(argc, argv); });
}
