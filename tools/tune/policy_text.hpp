#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "engine/run/policy_cost.hpp"

namespace evo {

/// A text for the end of a run about the candidates that only the policy rejected: their number by
/// limit, the candidate that exceeds a limit by the least, and a space with a wider policy; empty
/// if there are no such candidates.
[[nodiscard]] std::string policy_rejects_text(const PolicyRejects& rejects, std::size_t evaluated,
                                              std::size_t rejected);

/// The cost of the policy as text: "policy cost: 31.20 µs (best under policy) vs 28.10 µs (best
/// without, predicted), …".
[[nodiscard]] std::string policy_cost_text(const PolicyCost& cost, TimeKind kind);

/// The candidates that only the policy rejected, and the cost of the policy, as the JSON object of
/// the event "policy".
[[nodiscard]] nlohmann::ordered_json policy_json(const PolicyRejects& rejects,
                                                 const std::optional<PolicyCost>& cost,
                                                 TimeKind kind);

}  // namespace evo
