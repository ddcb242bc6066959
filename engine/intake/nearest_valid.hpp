#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/space/constraint.hpp"
#include "engine/space/parameter.hpp"

namespace evo {

/// The valid configuration nearest to the defaults: first by the number of changed parameters, then
/// by the distance along their lists, then by the order of the lists. Nullopt if no combination of
/// up to four changes is valid.
[[nodiscard]] std::optional<std::vector<std::uint16_t>> nearest_valid(
    const std::vector<Parameter>& parameters, const std::vector<Constraint>& constraints);

}  // namespace evo
