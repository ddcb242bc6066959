#include "tools/evo_tune_resume.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <tuple>

#include "engine/core/error.hpp"

namespace evo {
namespace {

/// Throws InputError unless the run is on what the command line says now.
void require_same(const StoredRun& run, const RunInfo& like, const Resumption& resumption) {
  const RunInfo& was = run.info;
  const std::string name = "--resume: run " + std::to_string(run.id);
  if (was.space.key != like.space.key || was.problem.key != like.problem.key ||
      was.shape != like.shape || was.device.name != like.device.name ||
      was.device.time_kind != like.device.time_kind) {
    throw InputError(name + " is on space " + was.space.name + ", shape " + was.shape +
                     ", device " + was.device.name + " (" +
                     std::string(to_string(was.device.time_kind)) + "); now it is space " +
                     like.space.name + ", shape " + like.shape + ", device " + like.device.name +
                     "; these and the contents of their files must be the same");
  }
  const bool was_cold = nlohmann::json::parse(was.options_json).value("cold", false);
  const bool cold = nlohmann::json::parse(like.options_json).value("cold", false);
  if (was_cold != cold) {
    throw InputError(name + " was started " + (was_cold ? "with" : "without") +
                     " --cold, and its times must be comparable");
  }
  const std::array<std::tuple<std::string, std::string, std::string>, 4> fixed = {{
      {"--seed", std::to_string(was.seed), std::to_string(like.seed)},
      {"--strategy", was.strategy, like.strategy},
      {"--elite", std::to_string(was.elite_size), std::to_string(like.elite_size)},
      {"--children", std::to_string(was.children), std::to_string(like.children)},
  }};
  for (const auto& [option, old_value, new_value] : fixed) {
    const bool is_given = std::find(resumption.given.begin(), resumption.given.end(), option) !=
                          resumption.given.end();
    if (is_given && old_value != new_value) {
      throw InputError(option + " " + new_value + ": run " + std::to_string(run.id) +
                       " is continued with its own, " + old_value);
    }
  }
}

}  // namespace

StoredRun resumed_run(Store& store, const RunInfo& like, const Resumption& resumption) {
  RunId id = resumption.id;
  if (id == 0) {
    const std::optional<RunId> found = store.find_resumable(like);
    if (!found) {
      throw InputError("--resume: " + resumption.db +
                       " has no unfinished run on this space, problem, shape and device");
    }
    id = *found;
  }
  require_same(store.run(id), like, resumption);
  return store.resume_run(id);
}

std::vector<StoredEvaluation> recorded_history(const Store& store, RunId run) {
  std::vector<StoredEvaluation> history = store.evaluations(run);
  for (StoredEvaluation& evaluation : history) {
    evaluation.record.manifest_json = {};
    evaluation.record.checks = {};
    if (evaluation.record.rejection) evaluation.record.rejection->detail = {};
  }
  return history;
}

}  // namespace evo
