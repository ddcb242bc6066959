#pragma once

#include <functional>
#include <optional>
#include <string>

#include "engine/gate/correctness/correctness_result.hpp"
#include "engine/gate/gpu/energy_window.hpp"
#include "engine/gate/timing/stopwatch.hpp"

namespace evo {

class GpuMonitor;

struct EnergyResult {
  std::optional<Energy> energy = {};
  std::string not_supported = {};  ///< why `energy` is missing
  std::optional<Rejection> rejection = {};
  bool device_lost = false;
};

/// Measures the energy of one launch. Launches the kernel repeatedly, as the timing gate does, in
/// graphs over rotating inputs, and divides the increase of the GPU's energy counter by the number
/// of launches. The result is the energy of the whole GPU, including its idle power. `now_s`: a
/// steady clock in seconds. `monitor`: null if NVML is not available.
[[nodiscard]] EnergyResult measure_energy(const Stopwatch::Setup& setup, const LoadedKernel& kernel,
                                          const Shape& shape, GpuMonitor* monitor,
                                          const EnergyOptions& options, const Progress& progress,
                                          const std::function<double()>& now_s);

}  // namespace evo
