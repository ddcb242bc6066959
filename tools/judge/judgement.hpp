#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "engine/evaluate/evaluation.hpp"
#include "engine/evaluate/tuning_task.hpp"
#include "tools/tune/against_stored.hpp"

namespace evo {

/// The results of evo-judge about one configuration.
struct Judgement {
  Evaluation evaluation;
  std::optional<ProfileRecord> profile = {};  ///< set if the profile gate was applied
  std::optional<AgainstStored> against = {};  ///< set if the kernel was compared with --baseline

  [[nodiscard]] bool is_rejected() const {
    return evaluation.rejection || (profile && !profile->passed);
  }
};

/// All results as one JSON object.
[[nodiscard]] nlohmann::ordered_json judgement_json(const TuningTask& task, const Judgement& found);

/// All results as lines for users.
[[nodiscard]] std::string judgement_text(const TuningTask& task, const Judgement& found);

}  // namespace evo
