#pragma once

#include <string>

#include "db/queries.hpp"

namespace evo {

/// The state of the card during a run as the driver reported it: one line each for users if it was
/// throttled, shared or busy; empty otherwise.
[[nodiscard]] std::string card_text(const CardSummary& summary);

/// The state during one timing: "SM 1965 MHz (1950 at least), memory 2619 MHz, 41 °C, 312 W".
[[nodiscard]] std::string card_text(const CardState& state);

}  // namespace evo
