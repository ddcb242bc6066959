#pragma once

#include <string>
#include <vector>

#include "engine/core/measurement.hpp"

namespace evo {

/// The seeds and shapes of the checks, as a text for users: "5 seeds: small, ragged31; 1 seed:
/// mission; 1 seed, 64 of 512 CTAs, 1024 of 32768 rows compared: long". Empty without checks.
[[nodiscard]] std::string coverage_text(const std::vector<CheckResult>& checks);

}  // namespace evo
