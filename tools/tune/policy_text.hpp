#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "engine/run/policy_cost.hpp"

namespace evo {

/// Text for the end of a run: how many candidates only the policy rejected, by which limit, the
/// candidate that exceeds a limit by the least, and the space that allows more. Empty if there are
/// none.
[[nodiscard]] std::string policy_rejects_text(const PolicyRejects& rejects, std::size_t evaluated,
                                              std::size_t rejected);

/// The cost of the policy as text: "policy cost: 31.20 µs (best under policy) vs 28.10 µs (best
/// without, predicted), …".
[[nodiscard]] std::string policy_cost_text(const PolicyCost& cost, TimeKind kind);

/// Rejections and cost as the JSON object of the event "policy".
[[nodiscard]] nlohmann::ordered_json policy_json(const PolicyRejects& rejects,
                                                 const std::optional<PolicyCost>& cost,
                                                 TimeKind kind);

}  // namespace evo
