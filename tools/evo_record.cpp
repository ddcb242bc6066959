// evo-record: times all configurations of a search space, or random ones, and writes a recording.

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "db/lock_wait.hpp"
#include "engine/core/protected_file.hpp"
#include "engine/evolve/max_in_flight.hpp"
#include "engine/run/run_setup.hpp"
#include "engine/run/steadiness.hpp"
#include "tools/cli/full_version.hpp"
#include "tools/cli/help_format.hpp"
#include "tools/cli/number_options.hpp"
#include "tools/cli/stop_signals.hpp"
#include "tools/cli/tool_main.hpp"
#include "tools/export/results.hpp"
#include "tools/tune/run_options.hpp"
#include "tools/tune/run_report.hpp"

namespace evo {
namespace {

struct Options : RunOptions {
  std::string count;
  std::string out;
  std::string kernel_tuner_cache;
};

constexpr const char* kAll = "all";
constexpr std::size_t kMostCandidates = 10'000'000;
constexpr std::size_t kControlEvery = 50;
constexpr double kPercent = 100;

constexpr const char* kDescription =
    "evo-record: times configurations of a search space and writes a recording.\n"
    "evo-replay and other tuners read recordings. A recording holds N random configurations, "
    "or all. Each configuration goes through the gates of evo-tune, "
    "and every green kernel is timed with equal care. A failure is recorded with its gate. "
    "The default configuration is always recorded, and is timed again and again as the control.";

/// A number of candidates, or "all".
CLI::Validator count_or_all() {
  const CLI::Validator number = whole_number(1, kMostCandidates);
  return {[=](std::string& text) {
            if (text == kAll) return std::string();
            const std::string refusal = number(text);
            return refusal.empty() ? refusal : refusal + ", or all";
          },
          fmt::format("1 to {} or all", kMostCandidates)};
}

void declare(CLI::App& app, Options& options) {
  options.session.declare(app);
  app.add_option("--count", options.count,
                 "configurations to record; all: the whole space, "
                 "in a random order (default with --resume: the count of the resumed run)")
      ->type_name("N")
      ->transform(count_or_all());
  app.add_option("--out", options.out,
                 "T4 results file to write at the end, or when interrupted; "
                 "compressed if its name ends with .gz")
      ->type_name(value_words::kFile);
  app.add_option("--kernel-tuner-cache", options.kernel_tuner_cache,
                 "write the results as a cache file of Kernel Tuner")
      ->type_name(value_words::kFile);
  app.add_option("--seed", options.tuner.seed, "seed of the random choice")
      ->capture_default_str()
      ->transform(seed_number());
  app.add_option("--control-every", options.tuner.offspring,
                 "candidates between two timings of the control")
      ->capture_default_str()
      ->transform(whole_number(1, 10000));
  app.add_option("--max-in-flight", options.tuner.max_in_flight,
                 "candidates in flight (default: eight times --jobs)")
      ->transform(whole_number(1, 10000));
  options.declare_run(app);
  options.declare_output(app, "evo-record");
  app.footer(exit_codes({{0, "recorded"},
                         {1, "no kernel is green"},
                         {2, "bad usage or input"},
                         {3, "the compiler, the driver or the GPU is missing or cannot be used"},
                         {130, "interrupted, everything saved"}}));
}

/// Throws InputError before the run, which may take hours, if `file` cannot be the output of
/// `option`: for example, if its folder is missing or another program wrote the file.
void require_folder_of(const std::string& option, const std::string& file) {
  if (file.empty()) return;
  const std::filesystem::path folder = std::filesystem::absolute(file).parent_path();
  std::error_code unknown;
  if (!std::filesystem::is_directory(folder, unknown)) {
    throw InputError(option + " " + file + ": there is no folder " + folder.string());
  }
  if (std::filesystem::is_directory(file, unknown)) {
    throw InputError(option + " " + file + ": it is a folder; allowed: the name of a file");
  }
  require_no_special_file(file, "written");
  require_no_database(file);
  require_replaceable(file, results_owner("evo-record"));
}

void require_complete(const Options& options) {
  if (options.out.empty() && options.kernel_tuner_cache.empty()) {
    throw InputError("name a file to write: --out FILE or --kernel-tuner-cache FILE");
  }
  if (options.count.empty() && !options.resume) {
    throw InputError("--count is required: the number of configurations to record, or all");
  }
  if (options.session.device == "none") {
    throw InputError("--device none: nothing can be timed; a recording needs a device");
  }
  require_folder_of("--out", options.out);
  require_folder_of("--kernel-tuner-cache", options.kernel_tuner_cache);
}

/// The number of candidates to record; kAnyNumber if `count` is empty. Throws InputError for "all"
/// if the space has more than kMostCandidates valid configurations or their number is only
/// estimated.
std::size_t candidates_asked(const std::string& count, const Space& space) {
  if (count != kAll) return count.empty() ? kAnyNumber : std::stoul(count);
  const SpaceCount valid = space.count();
  if (!valid.exact || valid.value > static_cast<double>(kMostCandidates)) {
    throw InputError(
        fmt::format("--count all: the space has about {:.3g} valid configurations; "
                    "allowed: at most {}",
                    valid.value, kMostCandidates));
  }
  return static_cast<std::size_t>(std::llround(valid.value));
}

/// Writes the requested files and reports their names.
void write_files(const Store& store, const StoredRun& run, const Options& options,
                 const TuneReport& report) {
  const auto write = [&](const std::string& file, const RunResults& results) {
    write_results(file, results, "evo-record");
    report.emit({{"event", "written"}, {"file", file}, {"configurations", results.configurations}});
    if (!options.json) std::cout << file << '\n';
  };
  if (!options.out.empty()) write(options.out, t4_results(store, run));
  if (!options.kernel_tuner_cache.empty()) {
    write(options.kernel_tuner_cache, kernel_tuner_cache(store, run));
  }
}

std::string drift_text(const ControlDrift& drift) {
  if (drift.times == 0) return {};
  return fmt::format(
      "the control was timed {} times; relative to the first time, its times differ by {:+.1f} to "
      "{:+.1f} %{}",
      drift.times, drift.lowest * kPercent, drift.highest * kPercent,
      drift.is_steady() ? ""
                        : ": UNRELIABLE: the device was not steady; "
                          "another process may have used the device, or its clocks were throttled");
}

void report_end(const Store& store, RunId run, const Tuner& tuner, const TuneReport& report) {
  const RunProgress& progress = tuner.progress();
  const ControlDrift drift = control_drift(store.generations(run));
  report.emit({{"event", "finished"},
               {"run", run},
               {"evaluated", progress.evaluated},
               {"green", progress.green},
               {"elapsed_s", progress.elapsed_s},
               {"control_times", drift.times},
               {"control_drift_lowest", drift.lowest},
               {"control_drift_highest", drift.highest}});
  if (const std::string text = drift_text(drift); !text.empty()) report.say(text);
}

ExitCode exit_code(TunerEnd end, const RunProgress& progress) {
  if (end == TunerEnd::kInterrupted) return ExitCode::kInterrupted;
  return progress.green == 0 ? ExitCode::kNothingGreen : ExitCode::kGreen;
}

ExitCode record_run(Workbench& bench, Store& store, OpenRun open, TuneReport& report,
                    const Options& options) {
  const RunId run = open.ids.front();
  describe_run(bench, report, open.ids);
  report.watch(bench);
  Tuner tuner(bench, store, open.ids, open.tuner, report);
  const TunerEnd end = tuner.run(std::move(open.histories), stop_requested());
  const bool is_whole = end == TunerEnd::kFinished || end == TunerEnd::kExhausted;
  const PhaseTimes times = report.times();
  report.close();
  report_speed(times, tuner.progress(), report);
  store.finish_run(run, is_whole ? RunStatus::kFinished : RunStatus::kInterrupted);
  write_files(store, store.run(run), options, report);
  report_end(store, run, tuner, report);
  if (!is_whole) {
    report.say(std::string(end == TunerEnd::kOutOfTime ? "out of time" : "interrupted") +
               "; everything is saved: continue with --resume");
  }
  return exit_code(end, tuner.progress());
}

ExitCode record(Options options) {
  Store store = Store::open_waiting(options.db, {.stop = &stop_requested()});
  RunId run = 0;
  Services services =
      options.session.open_services(store, [&](const std::string& kind, const std::string& text) {
        if (run > 0) store.record_event(run, kind, text);
      });
  const DeviceInfo device = services.devices.front()->info();
  const std::uint64_t check_seed = options.check_seed != 0 ? options.check_seed : fresh_seed();
  const WorkbenchOptions bench_options = options.session.bench_options(services, check_seed);
  Workbench bench(bench_options, std::move(services));
  require_one_shape(bench);
  options.tuner.candidates = candidates_asked(options.count, bench.task().space());
  const RunRequest request{options.tuner, check_seed, options.session.cold, full_version()};
  OpenRun open = options.resume ? continue_run(store, bench, request, *options.resume)
                                : begin_run(store, bench, request);
  run = open.ids.front();
  tell_there_is_something_to_save();
  TuneReport report({options.json, options.quiet, device.time_kind, open.tuner.candidates,
                     options.session.job_count()});
  report.notice(honesty_line(&device));
  for (const std::string& text : bench.task().warnings()) {
    report.notice(text);
    store.record_event(run, "warning", text);
  }
  if (options.resume) {
    report.say(fmt::format("resuming run {}: {} evaluations are kept", run, open.kept()));
  }
  try {
    return record_run(bench, store, std::move(open), report, options);
  } catch (const DbError& error) {
    throw DbError(fmt::format(
        "{}\nrun {} stopped here; once the database can be written, continue it with --resume",
        error.what(), run));
  }
}

ExitCode run(int argc, char** argv) {
  Options options;
  options.tuner.aim = Aim::kRecord;
  options.tuner.strategy = "random";
  options.tuner.generations = std::numeric_limits<int>::max();
  options.tuner.offspring = kControlEvery;
  CLI::App app(kDescription);
  declare(app, options);
  if (const auto done = parse_command_line(app, argc, argv, SessionOptions::value_lists()))
    return *done;
  if (app.count("--max-in-flight") == 0) {
    options.tuner.max_in_flight = default_max_in_flight(options.session.job_count(), false);
  }
  options.take_resumption(app);
  require_complete(options);
  handle_stop_signals();
  return record(std::move(options));
}

}  // namespace
}  // namespace evo

int main(int argc, char** argv) {
  return evo::tool_main("evo-record", [&] { return evo::run(argc, argv); });
}
