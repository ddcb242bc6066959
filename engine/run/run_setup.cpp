#include "engine/run/run_setup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "db/connection.hpp"
#include "engine/core/error.hpp"
#include "engine/core/json_reader.hpp"
#include "engine/run/warm_start.hpp"

namespace evo {
namespace {

using OrderedJson = nlohmann::ordered_json;

std::vector<KnownCandidate> known_from(const Workbench& bench, const nlohmann::json& options) {
  std::vector<KnownCandidate> known;
  for (const auto& one : options.value("warm_start", nlohmann::json::array())) {
    known.push_back({bench.task().space().candidate_from_json(one.at("config").dump()),
                     one.at("run").get<RunId>()});
  }
  return known;
}

/// Finds the stored runs that --resume continues, one for each shape.
std::vector<StoredRun> runs_to_resume(const Store& store, const std::vector<RunInfo>& like,
                                      const Resumption& resumption) {
  RunId id = resumption.id;
  if (id == 0) {
    const std::optional<RunId> found = store.find_resumable(like.front());
    if (!found) {
      throw InputError("--resume: " + resumption.db +
                       " has no unfinished run on this space, problem, shape and device" +
                       why_another(store, like.front()));
    }
    id = *found;
  }
  std::vector<StoredRun> runs;
  std::string shapes;
  for (const RunId beside : store.runs_beside(id)) {
    runs.push_back(store.run(beside));
    shapes += (shapes.empty() ? "" : ",") + runs.back().info.shape;
  }
  if (runs.size() != like.size()) {
    throw InputError("--resume: run " + std::to_string(id) + " is over shape " + shapes +
                     "; give --shape " + shapes);
  }
  for (std::size_t i = 0; i < runs.size(); ++i) require_same(runs[i], like[i], resumption);
  return runs;
}

/// The stored evaluations of a run, without long texts that a resumed run does not need.
std::vector<EvaluationRecord> recorded_evaluations(const Store& store, RunId run) {
  std::vector<EvaluationRecord> history;
  store.for_each_evaluation(run, [&](EvaluationRecord evaluation) {
    evaluation.manifest_json = {};
    evaluation.checks = {};
    if (evaluation.rejection) evaluation.rejection->detail = {};
    history.push_back(std::move(evaluation));
  });
  return history;
}

}  // namespace

std::size_t OpenRun::kept() const {
  std::size_t most = 0;
  for (const RunHistory& history : histories) most = std::max(most, history.size());
  return most;
}

OpenRun begin_run(Store& store, const Workbench& bench, const RunRequest& request) {
  (void)make_strategy(request.tuner.strategy, bench.task().space(),
                      {});  // rejects an unknown name early
  RunRequest begun = request;
  if (request.warm_start)
    begun.tuner.known = find_known(store, bench.task(), request.tuner.offspring);
  return {store.start_runs(run_infos(bench.task(), begun, bench.setup().timing)), begun.tuner};
}

OpenRun continue_run(Store& store, Workbench& bench, const RunRequest& request,
                     const Resumption& resumption) {
  const std::vector<StoredRun> were =
      runs_to_resume(store, run_infos(bench.task(), request, bench.setup().timing), resumption);
  // Uses the seeds and options of the stored run, so that it continues as if uninterrupted.
  const RunRequest stored = stored_request(were.front().info, request, resumption);
  auto options = OrderedJson::parse(were.front().info.options_json);
  OpenRun run{{}, stored.tuner};
  run.tuner.known = known_from(bench, options);
  options["generations"] = run.tuner.generations;
  bench.use_check_seed(stored.check_seed);  // may fail, so before the run is marked as running
  for (const StoredRun& one : were) {
    run.ids.push_back(store.resume_run(one.id, options.dump()).id);
    run.histories.emplace_back(recorded_evaluations(store, one.id), store.generations(one.id));
  }
  return run;
}

void rethrow_stopped(Store& store, const std::vector<RunId>& runs) {
  try {
    throw;
  } catch (const DbError& error) {
    if (store.connection().is_lost()) throw;
    throw DbError(fmt::format(
        "{}\nrun {} stopped here; once the database can be written, continue it with --resume",
        error.what(), runs.front()));
  } catch (...) {
    try {
      for (const RunId run : runs) {
        if (store.run(run).status == RunStatus::kRunning)
          store.finish_run(run, RunStatus::kInterrupted);
      }
    } catch (const Error&) {
      // --resume also continues a run that is stored as running and whose process has died.
    }
    throw;
  }
}

}  // namespace evo
