#pragma once

#include <functional>
#include <optional>
#include <string>

#include "engine/gate/card/energy_window.hpp"
#include "engine/gate/correctness/correctness_result.hpp"
#include "engine/gate/timing/stopwatch.hpp"

namespace evo {

class CardMonitor;

struct EnergyResult {
  std::optional<Energy> energy = {};
  std::string not_supported = {};  ///< why there is none
  std::optional<Rejection> rejection = {};
  bool device_lost = false;
};

/// Measures the energy that one launch takes from the card's supply: the kernel is launched again
/// and again as it is timed, in graphs over rotating inputs, and the growth of the card's counter
/// is divided by the number of launches. It is the whole card's energy, what it takes when idle
/// included. `now_s`: a steady clock in seconds; `monitor`: null where nobody counts.
[[nodiscard]] EnergyResult measure_energy(const Stopwatch::Setup& setup, const LoadedKernel& kernel,
                                          const Shape& shape, CardMonitor* monitor,
                                          const EnergyOptions& options, const Progress& progress,
                                          const std::function<double()>& now_s);

}  // namespace evo
