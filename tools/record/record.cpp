#include "tools/record/record.hpp"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "engine/run/run_setup.hpp"
#include "engine/run/steadiness.hpp"
#include "tools/cli/full_version.hpp"
#include "tools/cli/stop_signals.hpp"
#include "tools/export/results.hpp"
#include "tools/tune/run_report.hpp"

namespace evo {
namespace {

constexpr double kPercent = 100;

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
  require_replaceable(file, results_owner("evo-record"));
}

void require_complete(const RecordOptions& options) {
  if (options.out.empty() && options.kernel_tuner_cache.empty()) {
    throw InputError("name a file to write: --out FILE or --kernel-tuner-cache FILE");
  }
  if (options.count.empty() && !options.resume) {
    throw InputError("--count is required: the number of configurations to record, or all");
  }
  if (options.session.device == "none") {
    throw InputError("--device none: nothing can be timed; a recording needs a device");
  }
  require_two_files("--out", options.out, options.kernel_tuner_cache);
  require_folder_of("--out", options.out);
  require_folder_of("--kernel-tuner-cache", options.kernel_tuner_cache);
}

/// The number of candidates to record; kAnyNumber if `count` is empty. Throws InputError for "all"
/// if the space has more than kMostCandidates valid configurations or their number is only
/// estimated.
std::size_t candidates_asked(const std::string& count, const Space& space) {
  if (count != kEveryCandidate) return count.empty() ? kAnyNumber : std::stoul(count);
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
void write_files(const Store& store, const StoredRun& run, const RecordOptions& options,
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
               {"status", to_string(store.run(run).status)},
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
                    const RecordOptions& options) {
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
    report.say_stopped(end == TunerEnd::kOutOfTime ? "out of time" : "interrupted");
  }
  return exit_code(end, tuner.progress());
}

}  // namespace

ExitCode record(RecordOptions options) {
  require_complete(options);
  Store store = options.open_store();
  RunId run = 0;
  Services services =
      options.session.open_services(store, [&](const std::string& kind, const std::string& text) {
        if (run > 0) store.record_event(run, kind, text);
      });
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
  const DeviceInfo& device = bench.task().device();
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
  } catch (...) {
    rethrow_stopped(store, {run});
  }
}

}  // namespace evo
