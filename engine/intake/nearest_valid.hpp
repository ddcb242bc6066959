#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/space/constraint.hpp"
#include "engine/space/parameter.hpp"

namespace evo {

/// The valid configuration that is nearest to the defaults: by the number of changed parameters,
/// then by the distances of values in their lists, then by the order of the lists; nullopt if no
/// configuration that changes at most four parameters is valid. The search ends after 20 million
/// configurations, and then returns the nearest valid one so far.
[[nodiscard]] std::optional<std::vector<std::uint16_t>> nearest_valid(
    const std::vector<Parameter>& parameters, const std::vector<Constraint>& constraints);

}  // namespace evo
