#include "tools/tune/tune_command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iostream>

#include "db/queries.hpp"
#include "engine/compile/compiler_options.hpp"
#include "engine/core/hash.hpp"
#include "engine/run/objective.hpp"
#include "engine/run/profile_gate.hpp"
#include "tools/cli/full_version.hpp"
#include "tools/cli/stop_signals.hpp"
#include "tools/tune/tune_plan.hpp"
#include "tools/tune/tune_search.hpp"

namespace evo {
namespace {

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

/// The searches of an evo-tune command, which share the database, the devices and the compilers.
class TuneCommand {
 public:
  explicit TuneCommand(const TuneOptions& options)
      : options_(options), store_(options.open_store()) {}

  ExitCode run();

 private:
  Services open();
  [[nodiscard]] RunRequest request() const;
  bool search(std::size_t number, Services& services);
  bool prepare(const PlannedSearch& search, Services& services);
  OpenRun begin(PlannedSearch& search, double max_seconds, const TuneReport& report);
  void note(const std::vector<RunId>& runs);
  void tell_bundle() const;
  [[nodiscard]] std::string heading(std::size_t number) const;
  [[nodiscard]] double share_s(std::size_t number) const;

  const TuneOptions& options_;
  Store store_;
  RunId run_ = 0;  ///< the run to which events belong; 0: none yet
  ReportOptions shown_;
  WorkbenchOptions setup_;
  std::vector<PlannedSearch> plan_;
  std::optional<Workbench> bench_;
  std::optional<SteadyTime> started_;  ///< the start of the first search
  std::size_t runs_ = 0;               ///< number of runs of all searches
  std::vector<RunId> green_;           ///< the runs with a winner
  bool all_green_ = true;
};

ExitCode TuneCommand::run() {
  Services services = open();
  plan_ = plan_searches(store_, setup_, device_for(setup_, services), request(), options_);
  shown_.searches = plan_.size();
  for (std::size_t number = 0; number < plan_.size(); ++number) {
    shown_.search = number + 1;
    if (!search(number, services)) return ExitCode::kInterrupted;
  }
  if (plan_.size() > 1 && !green_.empty() && !options_.json) tell_bundle();
  return !all_green_ && has_device(*bench_) ? ExitCode::kNothingGreen : ExitCode::kGreen;
}

/// Prints how to export a bundle of the winners. Names the runs only if the database has others.
void TuneCommand::tell_bundle() const {
  const bool has_others = store_.runs().size() > runs_;
  std::cout << "export all winners: evo-export --db " << join_options({&options_.db, 1})
            << (has_others ? fmt::format(" --run {}", fmt::join(green_, " --run ")) : "")
            << " --bundle DIR\n";
}

/// Opens devices and compilers, and prints what the user must know about them.
Services TuneCommand::open() {
  const EventSink on_event = [this](const std::string& kind, const std::string& text) {
    if (run_ > 0) store_.record_event(run_, kind, text);
  };
  Services services = options_.session.open_services(store_, on_event);
  const std::string not_interpreted =
      options_.session.add_interpreter(services, options_.interpret, on_event);
  const DeviceInfo* device = device_of(services);
  require_objective(options_, device);
  shown_ = {.json = options_.json,
            .quiet = options_.quiet,
            .kind = device != nullptr ? device->time_kind : TimeKind::kMeasured,
            .compilers = options_.session.job_count()};
  const TuneReport report(shown_);
  report.notice(honesty_line(device));
  setup_ = options_.session.bench_options(
      services, options_.check_seed != 0 ? options_.check_seed : fresh_seed());
  if (Objective(options_.tuner.objective).uses_energy()) setup_.energy_s = kCandidateEnergy_s;
  report.notice(not_interpreted);
  return services;
}

RunRequest TuneCommand::request() const {
  return {.tuner = options_.tuner,
          .check_seed = setup_.device.check_seed,
          .cold = options_.session.cold,
          .evo_version = full_version(),
          .warm_start = options_.warm_start,
          .group = ContentHash().add(std::to_string(fresh_seed())).hex()};
}

/// Makes a search, unless an earlier command has finished it or the time is over. Returns false
/// after an interruption.
bool TuneCommand::search(std::size_t number, Services& services) {
  PlannedSearch& search = plan_[number];
  const bool is_alone = plan_.size() == 1;
  TuneReport report(shown_);
  if (!is_alone) report.notice(heading(number));
  if (!search.finished.empty()) {
    note(search.finished);
    return true;
  }
  if (share_s(number) <= 0 && started_) {
    all_green_ = false;
    report.notice("out of time: this search was not started; start it with --resume");
    return true;
  }
  bool goes_on = prepare(search, services);
  if (goes_on) {
    OpenRun open = begin(search, share_s(number), report);
    const std::vector<RunId> runs = open.ids;
    try {
      goes_on = search_and_report(*bench_, store_, std::move(open), report, options_);
    } catch (...) {
      rethrow_stopped(store_, runs);
    }
    note(runs);
  }
  if (!goes_on) {
    const std::string where =
        is_alone ? "" : fmt::format(" in search {} of {}", number + 1, plan_.size());
    report.say_stopped("interrupted" + where);
  }
  return goes_on;
}

/// Prepares the workbench for a search. Returns false after an interruption.
bool TuneCommand::prepare(const PlannedSearch& search, Services& services) {
  if (bench_) {
    if (stop_requested()) return false;
    try {
      bench_->loop().stop_when({.requested = &stop_requested()});
      bench_->use_shapes(search.build.names());
      return true;
    } catch (const Interrupted&) {
      return false;
    }
  }
  setup_.shape = search.build.names();
  setup_.device.check_seed = search.request.check_seed;
  setup_.compiles_initial_population = !search.resume;
  bench_.emplace(setup_, std::move(services));
  if (options_.elite.profile) require_profile(*bench_);
  return true;
}

/// Begins or continues the runs of a search.
OpenRun TuneCommand::begin(PlannedSearch& search, double max_seconds, const TuneReport& report) {
  search.request.tuner.max_seconds = max_seconds;
  OpenRun open = search.resume ? continue_run(store_, *bench_, search.request, *search.resume)
                               : begin_run(store_, *bench_, search.request);
  run_ = open.ids.front();
  tell_there_is_something_to_save();
  for (const std::string& text : bench_->task().warnings()) {
    if (!started_) report.notice(text);
    store_.record_event(run_, "warning", text);
  }
  if (search.resume) {
    report.say(fmt::format("resuming run {}: {} evaluations are kept", run_, open.kept()));
  }
  if (!started_) started_ = std::chrono::steady_clock::now();
  return open;
}

/// Notes which runs of a search have a winner.
void TuneCommand::note(const std::vector<RunId>& runs) {
  runs_ += runs.size();
  for (const RunId run : runs) {
    const bool is_green = !elite_of_run(store_, run).empty();
    if (is_green) green_.push_back(run);
    all_green_ = all_green_ && is_green;
  }
}

std::string TuneCommand::heading(std::size_t number) const {
  const PlannedSearch& search = plan_[number];
  const std::size_t shapes = search.build.shapes.size();
  std::string text =
      fmt::format("search {} of {}: shape{} {} ({})", number + 1, plan_.size(),
                  shapes > 1 ? "s" : "", fmt::join(search.build.shapes, ", "), search.build.macros);
  if (!search.finished.empty()) {
    text += fmt::format(", finished before in run{} {}", shapes > 1 ? "s" : "",
                        fmt::join(search.finished, ", "));
  }
  return text;
}

/// The time of a search: an equal share of the time that is left.
double TuneCommand::share_s(std::size_t number) const {
  const std::chrono::duration<double> spent =
      started_ ? std::chrono::steady_clock::now() - *started_ : SteadyTime::duration::zero();
  const auto left = std::count_if(plan_.begin() + static_cast<std::ptrdiff_t>(number), plan_.end(),
                                  [](const auto& search) { return search.finished.empty(); });
  return (options_.tuner.max_seconds - spent.count()) / static_cast<double>(left);
}

}  // namespace

ExitCode tune(const TuneOptions& options) { return TuneCommand(options).run(); }

}  // namespace evo
