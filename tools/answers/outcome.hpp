#pragma once

#include <string_view>

#include "db/store.hpp"

namespace evo {

/// Why a candidate is not green: its withdrawal or its rejection; null if the candidate did not
/// fail.
[[nodiscard]] inline const Rejection* failure_of(const EvaluationRecord& evaluation) {
  if (evaluation.withdrawal) return &*evaluation.withdrawal;
  return evaluation.rejection ? &*evaluation.rejection : nullptr;
}

[[nodiscard]] inline bool is_green(const EvaluationRecord& evaluation) {
  return evaluation.timing && failure_of(evaluation) == nullptr;
}

/// The candidate's outcome, in the words of the view `evaluation` of db/schema.sql.
[[nodiscard]] inline std::string_view outcome_word(const EvaluationRecord& evaluation) {
  if (evaluation.rejection) return "rejected";
  if (evaluation.withdrawal) return "withdrawn";
  return is_green(evaluation) ? "green" : "unjudged";
}

}  // namespace evo
