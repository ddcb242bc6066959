#pragma once

#include <string>
#include <vector>

#include "db/store.hpp"
#include "engine/evaluate/workbench.hpp"
#include "engine/run/elite.hpp"
#include "engine/run/tuner.hpp"
#include "tools/tune/run_report.hpp"

namespace evo {

/// Executes the elite of a shape on the bench's virtual GPU: a kernel with a defect there is
/// withdrawn, and the next in line takes its place, as Tuner::hold_elite(). Stores and tells the
/// outcomes. False when it was interrupted.
[[nodiscard]] bool interpret_elite(Workbench& bench, Store& store, Tuner& tuner, RunId run,
                                   std::size_t shape, const TuneReport& report);

/// Holds the elite of a shape against the profile gate, as Tuner::hold_elite(), stores what was
/// counted and tells of each kernel. False when it was interrupted.
[[nodiscard]] bool profile_elite(Workbench& bench, Store& store, Tuner& tuner, RunId run,
                                 std::size_t shape, const TuneReport& report);

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

/// Measures and stores joules per launch. The first that cannot be had ends it with a line.
void measure_energy(Workbench& bench, Store& store, const EliteOfRun& elite,
                    const TuneReport& report);

}  // namespace evo
