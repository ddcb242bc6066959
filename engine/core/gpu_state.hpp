#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace evo {

/// Why a GPU runs slower than it could.
enum class Slowdown {
  kPowerCap,         ///< the GPU draws as much power as its cap allows, as under any heavy load
  kHardware,         ///< the GPU's hardware cut its clocks to half or less, to protect the GPU
  kSoftwareThermal,  ///< the driver lowers the clocks to keep the GPU below its temperature limit
  kHardwareThermal,  ///< the GPU exceeded its temperature limit
  kPowerBrake,       ///< the power supply asked for less power
};

/// The reason as text: "power cap", "hardware slowdown", "software thermal slowdown", "hardware
/// thermal slowdown" or "power brake".
[[nodiscard]] std::string_view to_string(Slowdown slowdown);

/// The inverse of to_string(Slowdown). Throws InputError if `text` is not the name of a Slowdown.
[[nodiscard]] Slowdown slowdown_from_string(std::string_view text);

/// Whether times measured during `slowdown` must be discarded: true for every reason except the
/// power cap. Reaching the power cap is part of the cost of a kernel, whereas all other slowdowns
/// are faults of the machine.
[[nodiscard]] bool spoils_times(Slowdown slowdown);

/// The GPU's state while a kernel was timed, as the driver reported it. Figures that the driver
/// does not report are unset. After each batch of samples, a look reads clocks and slowdowns. The
/// minimum and the median of the SM clock are over the looks whose samples were kept; memory clock,
/// temperature and power are from one reading near the end.
struct GpuState {
  int looks = 0;  ///< number of looks
  std::optional<double> sm_clock_min_mhz = {};
  std::optional<double> sm_clock_median_mhz = {};
  std::optional<double> memory_clock_mhz = {};
  std::optional<double> temperature_c = {};
  std::optional<double> power_w = {};
  std::vector<Slowdown> slowdowns = {};  ///< every observed reason, in the order of the enumeration
  std::int64_t discarded = 0;  ///< number of samples discarded because the GPU was throttled
  /// true if the GPU stayed throttled, so that samples of the throttled GPU were kept
  bool throttled = false;
  std::vector<std::string> others = {};  ///< other processes on the GPU: "4711 (python3)"
  /// Percentage of the time in which the GPU was busy before this process launched anything; unset
  /// if it is at most 5 %, or if the driver lists other processes, which `others` then names.
  std::optional<double> busy_before_percent = {};

  bool operator==(const GpuState&) const = default;
};

/// The energy of one launch, from the GPU's energy counter.
struct Energy {
  double launch_mj = 0;       ///< millijoules that the whole GPU used for one launch
  double power_w = 0;         ///< mean power during the measurement
  double window_s = 0;        ///< interval between two updates of the energy counter
  std::int64_t launches = 0;  ///< number of launches during `window_s`

  bool operator==(const Energy&) const = default;
};

}  // namespace evo
