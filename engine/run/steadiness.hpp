#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "db/queries.hpp"
#include "db/records.hpp"

namespace evo {

/// How the time of a run's control drifted, against its first.
struct ControlDrift {
  std::size_t times = 0;  ///< that it was timed
  double lowest = 0;      ///< −0.02: 2 % faster than at first
  double highest = 0;

  [[nodiscard]] bool is_steady() const;
};

[[nodiscard]] ControlDrift control_drift(const std::vector<StoredGeneration>& generations);

/// Whether the device kept its pace during a run, from the control that is timed after every
/// generation and from how the times of the elite scatter: one line for people when it did not,
/// so that the order of the elite is not to be trusted; empty otherwise, and for predicted times.
/// Another process on the card, or a card that throttles, shows so.
[[nodiscard]] std::string steadiness_text(const std::vector<StoredGeneration>& generations,
                                          const std::vector<EliteRow>& elite);

}  // namespace evo
