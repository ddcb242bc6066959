#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/core/gpu_state.hpp"

namespace evo {

/// The clock of a GPU's SMs at one moment, and the reasons why this clock is slowed down.
struct GpuPace {
  std::optional<double> sm_clock_mhz = {};
  std::vector<Slowdown> slowdowns = {};  ///< in the order of the enumeration
};

/// Properties of a GPU that change slowly, such as its temperature.
struct GpuCondition {
  std::optional<double> memory_clock_mhz = {};
  std::optional<double> temperature_c = {};
  std::optional<double> power_w = {};
};

/// Reads a GPU's state from the driver while kernels run, and changes no setting. Values that the
/// driver does not report are nullopt. No member function throws.
class GpuMonitor {
 public:
  virtual ~GpuMonitor() = default;

  [[nodiscard]] virtual GpuPace pace() = 0;
  [[nodiscard]] virtual GpuCondition condition() = 0;
  /// The other processes with a context on the GPU, such as "4711 (python3)". Excludes this process
  /// and other worker processes of the same run. Empty if there are no other processes or if the
  /// driver does not list processes.
  [[nodiscard]] virtual std::vector<std::string> other_processes() = 0;
  /// Percentage of the driver's last sample period, which is at most one second, in which a kernel
  /// ran.
  [[nodiscard]] virtual std::optional<double> busy_percent() = 0;
  /// The GPU's energy counter, in millijoules since an arbitrary start.
  [[nodiscard]] virtual std::optional<double> energy_mj() = 0;
};

}  // namespace evo
