#pragma once

#include <string>

#include "db/queries.hpp"

namespace evo {

/// What the driver told of the card during a run, a line each for people where it was throttled,
/// shared or busy; empty where it was neither.
[[nodiscard]] std::string card_text(const CardSummary& summary);

/// One timing's: "SM 1965 MHz (1950 at least), memory 2619 MHz, 41 °C, 312 W".
[[nodiscard]] std::string card_text(const CardState& state);

}  // namespace evo
