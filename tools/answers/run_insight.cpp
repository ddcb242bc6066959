#include "tools/answers/run_insight.hpp"

#include "db/queries.hpp"
#include "tools/answers/outcome.hpp"

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
  store.for_each_evaluation(run.id, [&](const EvaluationRecord& evaluation) {
    Observation observation{space.candidate_from_json(evaluation.config_json)};
    if (evaluation.is_for_want_of_compiler()) return;
    if (const Rejection* failure = failure_of(evaluation)) {
      observation.failed_at = failure->gate;
    } else if (evaluation.timing) {
      observation.time_us = evaluation.timing->p50_us;
    } else {
      return;  // the candidate was not judged
    }
    observations.push_back(std::move(observation));
  });
  return learn(space, observations, winner_of(store, run, space));
}

}  // namespace evo
