#include "engine/run/run_history.hpp"

#include <utility>

namespace evo {

RunHistory::RunHistory(std::vector<EvaluationRecord> evaluations,
                       const std::vector<StoredGeneration>& generations) {
  for (EvaluationRecord& evaluation : evaluations) {
    const SlotPlace place{evaluation.generation, evaluation.position};
    evaluations_.emplace(place, std::move(evaluation));
  }
  for (const StoredGeneration& stored : generations) generations_.push_back(stored.record);
}

bool RunHistory::knows(const SlotPlace& place, const std::string& config_json) const {
  const auto found = evaluations_.find(place);
  return found != evaluations_.end() && found->second.config_json == config_json;
}

EvaluationRecord RunHistory::take(const SlotPlace& place) {
  return std::move(evaluations_.extract(place).mapped());
}

std::optional<GenerationRecord> RunHistory::take_generation() {
  if (generations_.empty()) return std::nullopt;
  GenerationRecord first = std::move(generations_.front());
  generations_.pop_front();
  return first;
}

}  // namespace evo
