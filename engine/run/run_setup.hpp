#pragma once

#include <string>
#include <vector>

#include "db/store.hpp"
#include "engine/evaluate/workbench.hpp"
#include "engine/run/tuner.hpp"

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
  /// The common name of all runs of a search over several shapes.
  std::string group = {};
};

/// The arguments of --resume.
struct Resumption {
  RunId id = 0;                    ///< 0: the newest unfinished run that fits the command line
  std::string db;                  ///< path of the database, for messages
  std::vector<std::string> given;  ///< the options given on the command line, for example "--seed"
};

/// A search that this process executes. Each shape has its own run in the database.
struct OpenRun {
  std::vector<RunId> ids;
  TunerOptions tuner;
  std::vector<RunHistory> histories = {};

  /// For a continued search: the number of stored evaluations on the shape that has the most.
  [[nodiscard]] std::size_t kept() const;
};

/// Creates a new run. Throws InputError for an unknown strategy.
[[nodiscard]] OpenRun begin_run(Store& store, const Workbench& bench, const RunRequest& request);

/// Opens the run that --resume continues, with its stored seeds, strategy, elite size, number of
/// offspring, candidates in flight and candidates of a warm start. The stored numbers of
/// generations and of candidates (--count) also apply unless the command line gives others, so that
/// a finished run can be extended. Throws InputError, without changing the stored run, if the run
/// does not exist, or if space, problem, shape, device or an option that cannot change differs from
/// the stored run.
[[nodiscard]] OpenRun continue_run(Store& store, Workbench& bench, const RunRequest& request,
                                   const Resumption& resumption);

}  // namespace evo
