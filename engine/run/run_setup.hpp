#pragma once

#include <vector>

#include "db/store.hpp"
#include "engine/evaluate/workbench.hpp"
#include "engine/run/run_info.hpp"
#include "engine/run/tuner.hpp"

namespace evo {

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

/// Call rethrow_stopped() in the handler of an exception that ended the execution of `runs`.
/// Rethrows the exception. A DbError gets the advice to use --resume, unless the database was
/// replaced or deleted. After other exceptions, the runs that are not finished become interrupted.
[[noreturn]] void rethrow_stopped(Store& store, const std::vector<RunId>& runs);

}  // namespace evo
