#pragma once

#include <string>
#include <vector>

#include "db/queries.hpp"
#include "db/records.hpp"

namespace evo {

/// Whether the device kept its pace during a run, from the control that is timed after every
/// generation and from how the times of the elite scatter: one line for people when it did not,
/// so that the order of the elite is not to be trusted; empty otherwise, and for predicted times.
/// Another process on the card, or a card that throttles, shows so.
[[nodiscard]] std::string steadiness_text(const std::vector<StoredGeneration>& generations,
                                          const std::vector<EliteRow>& elite);

}  // namespace evo
