#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/space/constraint.hpp"
#include "engine/space/parameter.hpp"

namespace evo {

/// The configuration nearest to that of the defaults that satisfies all constraints: fewest
/// parameters changed, then least far along their lists, then first in the order of the lists.
/// Nothing when up to four changes lead to none.
[[nodiscard]] std::optional<std::vector<std::uint16_t>> nearest_valid(
    const std::vector<Parameter>& parameters, const std::vector<Constraint>& constraints);

}  // namespace evo
