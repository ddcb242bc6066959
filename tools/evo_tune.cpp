// evo-tune: evolves the macros of a kernel template until the fastest correct kernel is found.

#include <signal.h>
#include <unistd.h>

#include <iostream>
#include <nlohmann/json.hpp>

#include "db/lock_wait.hpp"
#include "engine/core/hash.hpp"
#include "engine/evolve/steadiness.hpp"
#include "engine/gate/coverage.hpp"
#include "tools/evo_elite_answers.hpp"
#include "tools/evo_tune_policy.hpp"
#include "tools/evo_tune_report.hpp"
#include "tools/evo_tune_resume.hpp"
#include "tools/number_options.hpp"
#include "tools/session_options.hpp"
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
  std::size_t time_policy_rejects = 0;
};

// Of the signal handler, so they cannot be members.
std::atomic<bool> stop_requested{false};
std::atomic<bool> something_to_save{false};

/// The first signal ends the run in order, with all it found saved; there may be nothing to save
/// yet. The second one ends the process at once; the database stands a kill at any instant.
void on_signal(int) {
  if (stop_requested.exchange(true) || !something_to_save) {
    _exit(static_cast<int>(ExitCode::kInterrupted));
  }
}

void handle_signals() {
  struct sigaction action = {};
  action.sa_handler = on_signal;  // without SA_RESTART: a wait ends when a signal comes
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before = {};
    sigaction(signal, nullptr, &before);
    if (before.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr);  // nohup stays
  }
}

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
  app.add_option("--elite", options.tuner.elite, "kernels kept")
      ->capture_default_str()
      ->transform(whole_number(1, 1000));
  app.add_option("--strategy", options.tuner.strategy, strategy_list())->capture_default_str();
  app.add_option("--seed", options.tuner.seed, "seed of the search")
      ->capture_default_str()
      ->transform(seed_number());
  app.add_option("--check-seed", options.check_seed,
                 "seed of the inputs of the checks (default: a fresh one)")
      ->transform(seed_number());
  app.add_option("--max-seconds", options.tuner.max_seconds,
                 "stop after the generation that passes this")
      ->check(seconds_number());
  app.add_option("--db", options.db, "database file")->capture_default_str();
  app.add_option("--resume", options.resume_run,
                 "continue the newest unfinished run on the same inputs, or run N")
      ->expected(0, 1)
      ->transform(row_number());
  app.add_option("--time-policy-rejects", options.time_policy_rejects,
                 "after the search, time this many candidates that only the policy rejected")
      ->transform(whole_number(0, 10000));
  CLI::Option* json =
      app.add_flag("--json", options.json, "one JSON object a line on standard output");
  app.add_flag("--quiet", options.quiet, "no progress, only the result")->excludes(json);
  app.set_version_flag("--version", "evo-tune " EVO_VERSION);
  app.footer(
      "\nExit codes: 0 a green winner; 1 nothing is green; 2 bad usage or input; "
      "3 toolkit or device missing; 130 interrupted, everything saved.");
}

RunInfo run_info(const Harness& harness, const Options& options, std::uint64_t check_seed) {
  const SpaceDefinition& space = harness.space().definition();
  RunInfo info;
  info.device = harness.device();
  info.problem = {harness.problem_key(), harness.problem().name, harness.problem().text};
  info.space = {harness.space().content_key(), space.name, read_text_file(space.file)};
  info.shape = harness.shape().name;
  info.seed = options.tuner.seed;
  info.strategy = options.tuner.strategy;
  info.elite_size = static_cast<int>(options.tuner.elite);
  info.children = static_cast<int>(options.tuner.children);
  info.flops_per_launch = harness.problem().flops.evaluate(harness.shape().variables);
  info.bytes_per_launch = harness.problem().bytes.evaluate(harness.shape().variables);
  info.options_json = OrderedJson{{"generations", options.tuner.generations},
                                  {"check_seed", check_seed},
                                  {"cold", options.session.cold}}
                          .dump();
  info.evo_version = EVO_VERSION;
  return info;
}

/// Digits, where they fit 64 bits.
std::string count_text(double count) {
  constexpr double kMostDigits = 0x1.0p62;
  return count < kMostDigits ? std::to_string(static_cast<std::int64_t>(count))
                             : Json(count).dump();
}

void describe(const Harness& harness, const TuneReport& report, RunId run) {
  const SpaceCount count = harness.space().count();
  report.say("run " + std::to_string(run) + ": " + harness.space().definition().name + " (" +
             (count.exact ? "" : "about ") + count_text(count.value) +
             " valid configurations), shape " + harness.shape().name + ", " +
             harness.device().name + ", " + harness.arch());
  if (harness.arch() != harness.space().definition().arch) {
    report.say("the space is written for " + harness.space().definition().arch +
               "; compiling for the device, " + harness.arch());
  }
}

/// Where the time went, and how fast candidates were judged.
void report_speed(const Harness& harness, const Tuner& tuner, const TuneReport& report) {
  const PhaseTimes times = harness.times();
  const double total_ms = tuner.progress().elapsed_s * 1e3;
  const auto evaluated = static_cast<double>(tuner.progress().evaluated);
  const double rate = total_ms > 0 ? evaluated / total_ms * 1e3 : 0;
  const double busy = total_ms > 0 ? times.busy_ms / total_ms : 0;
  report.emit({{"event", "speed"},
               {"evaluated", evaluated},
               {"total_ms", total_ms},
               {"variants_per_s", rate},
               {"compile_ms", times.compile_ms},
               {"check_ms", times.check_ms},
               {"time_ms", times.time_ms},
               {"confirm_ms", times.confirm_ms},
               {"idle_ms", total_ms - times.busy_ms},
               {"busy_share", busy}});
  char line[256];
  std::snprintf(line, sizeof line,
                "%.1f candidates/s; of %.1f s: compilers running %.1f, checking %.1f, timing %.1f, "
                "confirming %.1f; device or compilers busy %.0f %%",
                rate, total_ms / 1e3, times.compile_ms / 1e3, times.check_ms / 1e3,
                times.time_ms / 1e3, times.confirm_ms / 1e3, busy * 100);
  report.say(line);
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
                     !stop_requested;
  if (timed) {
    report.say("timing what only the policy rejected");
    cost = policy_cost(harness, rejects, tuner.elite().members().front(),
                       options.time_policy_rejects, stop_requested);
    const std::string line = policy_cost_text(*cost, kind);
    store.record_event(run, "policy cost", line.substr(0, line.size() - 1));
    text += line;
  }
  if (!rejects.rejects.empty()) report.emit(policy_json(rejects, cost, kind));
  return text;
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
  std::cout << steadiness_text(store.generations(run), rows);
  if (!checked.empty()) std::cout << "the winner's checks: " << checked << '\n';
  std::cout << policy;
  std::cout << "export the winner: evo-export --db " << options.db << " --run " << run
            << " --rank 1 --out DIR\n";
}

/// The run itself, from its first generation to what it prints.
ExitCode search(Harness& harness, Store& store, RunId run, const TunerOptions& tuner_options,
                TuneReport& report, const Options& options,
                const std::vector<StoredEvaluation>& history,
                const std::vector<StoredGeneration>& generations) {
  describe(harness, report, run);

  Tuner tuner(harness, store, run, tuner_options, report);
  const TunerEnd end = tuner.run(history, generations, stop_requested);
  report_speed(harness, tuner, report);
  const std::string policy = report_policy(harness, store, run, options, report, tuner);
  store.finish_run(run,
                   end == TunerEnd::kInterrupted ? RunStatus::kInterrupted : RunStatus::kFinished);
  print_result(store, run, options, report, tuner, policy);
  if (end == TunerEnd::kInterrupted) {
    report.say("interrupted; everything is saved: continue with --resume");
    return ExitCode::kInterrupted;
  }
  return tuner.elite().members().empty() && harness.has_device() ? ExitCode::kNothingGreen
                                                                 : ExitCode::kGreen;
}

ExitCode tune(const Options& options) {
  Store store = Store::open_waiting(options.db, {.stop = &stop_requested});
  RunId run = 0;
  const auto on_event = [&](const std::string& kind, const std::string& text) {
    if (run > 0) store.record_event(run, kind, text);
  };
  std::unique_ptr<DeviceClient> device = options.session.open_device(on_event);
  const bool judged = device != nullptr;
  const TuneReport* reporter = nullptr;
  TuneReport report(
      {options.json, options.quiet, judged ? device->info().time_kind : TimeKind::kMeasured});
  reporter = &report;
  const std::string honesty = honesty_line(judged ? &device->info() : nullptr);
  if (!honesty.empty()) {
    reporter->say(honesty);
    reporter->emit({{"event", "notice"}, {"text", honesty}});
  }
  HarnessOptions harness_options;
  harness_options.space_file =
      options.session.space_file(judged ? device->info().arch : std::string());
  harness_options.shape = options.session.shape;
  harness_options.jobs = options.session.job_count();
  harness_options.check_seed = options.check_seed != 0 ? options.check_seed : fresh_seed();
  harness_options.cold = options.session.cold;
  harness_options.compile_memory_bytes = options.session.compiler_memory_bytes();
  harness_options.on_event = on_event;
  Harness harness(harness_options, store, std::move(device));

  const RunInfo info = run_info(harness, options, harness_options.check_seed);
  TunerOptions tuner_options = options.tuner;
  std::vector<StoredEvaluation> history;
  std::vector<StoredGeneration> generations;
  if (options.resume) {
    const StoredRun resumed = resumed_run(store, info, *options.resume);
    run = resumed.id;
    tuner_options.seed = resumed.info.seed;
    tuner_options.strategy = resumed.info.strategy;
    tuner_options.elite = static_cast<std::size_t>(resumed.info.elite_size);
    tuner_options.children = static_cast<std::size_t>(resumed.info.children);
    // The run's own inputs: what is judged from here on is judged as it would have been.
    const auto stored_options = OrderedJson::parse(resumed.info.options_json);
    harness.use_check_seed(stored_options.value("check_seed", harness_options.check_seed));
    history = recorded_history(store, run);
    generations = store.generations(run);
    report.say("resuming run " + std::to_string(run) + ": " + std::to_string(history.size()) +
               " evaluations are kept");
  } else {
    (void)make_strategy(tuner_options.strategy, harness.space(), {});  // refuses a bad name early
    run = store.start_run(info);
  }
  something_to_save = true;
  try {
    return search(harness, store, run, tuner_options, report, options, history, generations);
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
  if (app.count("--resume") > 0) {
    options.resume = Resumption{options.resume_run, options.db, {}};
    for (const CLI::Option* option : app.get_options()) {
      if (option->count() > 0) options.resume->given.push_back(option->get_name());
    }
  }
  handle_signals();
  return tune(options);
}

}  // namespace
}  // namespace evo

int main(int argc, char** argv) {
  return evo::tool_main("evo-tune", [&] { return evo::run(argc, argv); });
}
