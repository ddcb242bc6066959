#pragma once

#include <compare>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "db/records.hpp"

namespace evo {

/// The position of a candidate in the run: its generation, and its position in the generation.
struct SlotPlace {
  int generation = 0;
  int position = 0;

  auto operator<=>(const SlotPlace&) const = default;
};

/// The stored evaluations and generations of a run that is resumed, which the run takes out one
/// after the other instead of evaluating again; empty for a new run.
class RunHistory {
 public:
  RunHistory() = default;
  RunHistory(std::vector<EvaluationRecord> evaluations,
             const std::vector<StoredGeneration>& generations);

  /// The number of evaluations.
  [[nodiscard]] std::size_t size() const { return evaluations_.size(); }
  /// True if the history has this configuration at this position.
  [[nodiscard]] bool knows(const SlotPlace& place, const std::string& config_json) const;
  /// Removes the evaluation at this position, which must exist, and returns it.
  [[nodiscard]] EvaluationRecord take(const SlotPlace& place);
  /// Removes the first generation and returns it; nullopt if no generation is left.
  [[nodiscard]] std::optional<GenerationRecord> take_generation();

 private:
  std::map<SlotPlace, EvaluationRecord> evaluations_;
  std::deque<GenerationRecord> generations_;
};

}  // namespace evo
