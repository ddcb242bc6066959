#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "db/queries.hpp"
#include "db/records.hpp"

namespace evo {

/// The drift of the control's time, relative to its first time.
struct ControlDrift {
  std::size_t times = 0;  ///< generation in which it was timed
  double lowest = 0;      ///< −0.02: 2 % faster than at first
  double highest = 0;

  [[nodiscard]] bool is_steady() const;
};

[[nodiscard]] ControlDrift control_drift(const std::vector<StoredGeneration>& generations);

/// Checks whether the device was steady during a run, by the control, which is timed after every
/// generation, and by the scatter of the elite's times. Returns one line for users if it was not,
/// which means that the order of the elite is unreliable. Empty otherwise, and for predicted times.
/// Typical causes are other processes on the card and throttling.
[[nodiscard]] std::string steadiness_text(const std::vector<StoredGeneration>& generations,
                                          const std::vector<EliteRow>& elite);

}  // namespace evo
