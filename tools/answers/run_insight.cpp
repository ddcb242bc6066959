#include "tools/answers/run_insight.hpp"

#include "db/queries.hpp"

namespace evo {
namespace {

/// The first candidate of the run's elite; nullopt if the elite is empty.
std::optional<Candidate> winner_of(const Store& store, const StoredRun& run, const Space& space) {
  const std::vector<EliteRow> elite = elite_of_run(store, run.id);
  if (elite.empty()) return std::nullopt;
  return space.candidate_from_json(elite.front().config_json);
}

}  // namespace

Space space_of(const StoredRun& run) {
  return Space(parse_space(run.info.space.text, "the space of run " + std::to_string(run.id)));
}

Insight insight_of(const Store& store, const StoredRun& run, const Space& space) {
  std::vector<Observation> observations;
  store.for_each_evaluation(run.id, [&](const StoredEvaluation& evaluation) {
    const EvaluationRecord& record = evaluation.record;
    Observation observation{space.candidate_from_json(record.config_json)};
    if (record.is_for_want_of_compiler()) return;
    if (record.rejection) {
      observation.failed_at = record.rejection->gate;
    } else if (evaluation.withdrawal) {
      observation.failed_at = evaluation.withdrawal->gate;
    } else if (record.timing) {
      observation.time_us = record.timing->p50_us;
    } else {
      return;  // the candidate was not judged
    }
    observations.push_back(std::move(observation));
  });
  return learn(space, observations, winner_of(store, run, space));
}

}  // namespace evo
