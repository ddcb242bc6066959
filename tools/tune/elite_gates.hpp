#pragma once

#include <string>
#include <vector>

#include "db/store.hpp"
#include "engine/evaluate/workbench.hpp"
#include "engine/run/elite.hpp"
#include "engine/run/tuner.hpp"
#include "tools/tune/run_report.hpp"

namespace evo {

/// Executes the elite of a shape on the virtual GPU of `bench`. Withdraws a kernel with a defect;
/// the next candidate then joins the elite and is executed too. Stores the withdrawals and a
/// summary. Prints defects, and which kernels could not be executed. Returns false if the user
/// interrupted the run.
[[nodiscard]] bool interpret_elite(Workbench& bench, Store& store, Tuner& tuner, RunId run,
                                   std::size_t shape, const TuneReport& report);

/// Applies the profile gate to the elite of a shape, and to the candidates that replace rejected
/// kernels. Stores the metrics and prints the result of each kernel. Returns false if the user
/// interrupted the run.
[[nodiscard]] bool profile_elite(Workbench& bench, Store& store, Tuner& tuner, RunId run,
                                 std::size_t shape, const TuneReport& report);

/// The optional measurements of the elite after the search.
struct EliteLook {
  bool energy = false;   ///< joules per launch
  bool profile = false;  ///< the profile gate

  [[nodiscard]] bool any() const { return energy || profile; }
};

/// The elite of one shape, and its run.
struct EliteOfRun {
  RunId run = 0;
  std::size_t shape = 0;
  const std::vector<EliteMember>& members;
};

/// Measures and stores the energy per launch of each kernel of the elite whose energy is not stored
/// yet. Stops with a message at the first failure, and at once if the device does not count energy.
void measure_energy(Workbench& bench, Store& store, const EliteOfRun& elite,
                    const TuneReport& report);

}  // namespace evo
