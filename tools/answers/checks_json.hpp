#pragma once

#include <nlohmann/json.hpp>

#include "db/store.hpp"

namespace evo {

/// The checks of a candidate, as printed by evo-elite and stored in manifests.
[[nodiscard]] inline nlohmann::ordered_json checks_json(const EvaluationRecord& record) {
  nlohmann::ordered_json checks = nlohmann::ordered_json::array();
  for (const CheckResult& check : record.checks) {
    checks.push_back({{"shape", check.shape},
                      {"seed", check.seed},
                      {"max_abs_error", check.max_abs_error},
                      {"bad_share", check.bad_share},
                      {"relative_l2", check.relative_l2},
                      {"max_row_error", check.max_row_error},
                      {"sampled", check.sampled}});
  }
  return checks;
}

}  // namespace evo
