#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "db/queries.hpp"
#include "db/records.hpp"

namespace evo {

/// The drift of the control's time over a run, as a fraction of its first time.
struct ControlDrift {
  std::size_t times = 0;  ///< number of generations in which the control was timed
  double lowest = 0;      ///< −0.02 means 2 % faster than the first time
  double highest = 0;

  [[nodiscard]] bool is_steady() const;
};

[[nodiscard]] ControlDrift control_drift(const std::vector<StoredGeneration>& generations);

/// Checks whether the device was steady during a run, by the times of the control, which is timed
/// between generations, and by the scatter of the elite's times. If the device was not steady, for
/// example because of other processes or throttling, returns a line that warns users that the order
/// of the elite is unreliable. Returns an empty text for steady devices and predicted times.
[[nodiscard]] std::string steadiness_text(const std::vector<StoredGeneration>& generations,
                                          const std::vector<EliteRow>& elite);

}  // namespace evo
