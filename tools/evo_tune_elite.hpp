#pragma once

#include <vector>

#include "db/store.hpp"
#include "engine/coordinator/elite.hpp"
#include "engine/coordinator/harness.hpp"
#include "tools/evo_tune_report.hpp"

namespace evo {

/// What is found out about the elite of a run that has ended, beyond its times.
struct EliteLook {
  bool energy = false;   ///< joules per launch
  bool profile = false;  ///< the profile gate

  [[nodiscard]] bool any() const { return energy || profile; }
};

/// The elite of one shape.
struct EliteOfRun {
  RunId run = 0;
  std::size_t shape = 0;
  const std::vector<EliteMember>& members;
};

/// Measures and stores what was asked for. The first that cannot be had ends it with a line.
void look_at_elite(Harness& harness, Store& store, const EliteOfRun& elite, const EliteLook& look,
                   const TuneReport& report);

}  // namespace evo
