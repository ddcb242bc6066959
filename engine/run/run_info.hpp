#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "db/store.hpp"
#include "engine/evaluate/tuning_task.hpp"
#include "engine/gate/timing/stopwatch.hpp"
#include "engine/run/tuner_options.hpp"

namespace evo {

/// The settings of a new run. The Workbench holds the run's problem, space, shapes and devices.
struct RunRequest {
  TunerOptions tuner;
  std::uint64_t check_seed = 0;
  bool cold = false;
  std::string evo_version;
  /// If true, the run evaluates the best candidates of earlier runs (find_known()) before proposals
  /// of the strategy.
  bool warm_start = false;
  /// The common name of all runs of a command.
  std::string group = {};
  /// If the command makes several searches: the names of the shapes of each search, "a,b".
  std::vector<std::string> searches = {};
};

/// The arguments of --resume.
struct Resumption {
  RunId id = 0;                    ///< 0: the newest unfinished run that fits the command line
  std::string db;                  ///< path of the database, for messages
  std::vector<std::string> given;  ///< the options given on the command line, for example "--seed"

  [[nodiscard]] bool is_given(std::string_view option) const;
};

/// The data that are stored of a new run on each shape of `task`. `timing`: how the devices measure
/// times, which is stored with a recording.
[[nodiscard]] std::vector<RunInfo> run_infos(const TuningTask& task, const RunRequest& request,
                                             const TimingOptions& timing);

/// Describes how space, problem, shape and device of a stored run differ from those of a new run,
/// such as "space a, now it is b"; empty if they are equal.
[[nodiscard]] std::string difference(const RunInfo& was, const RunInfo& like);

/// Throws InputError unless a stored run has the same space, problem, shape, device and fixed
/// options as the command line.
void require_same(const StoredRun& run, const RunInfo& like, const Resumption& resumption);

/// Says how the newest unfinished run differs from this command line; empty if there is none.
[[nodiscard]] std::string why_another(const Store& store, const RunInfo& like);

/// Replaces the seeds and options that --resume takes from the stored run `was`.
[[nodiscard]] RunRequest stored_request(const RunInfo& was, RunRequest request,
                                        const Resumption& resumption);

}  // namespace evo
