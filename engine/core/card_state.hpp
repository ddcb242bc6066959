#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace evo {

/// Why a card runs slower than it could.
enum class Slowdown {
  kPowerCap,         ///< it keeps its power limit: what it does under any heavy load
  kHardware,         ///< the card's own emergency brake
  kSoftwareThermal,  ///< the driver keeps it from getting too hot
  kHardwareThermal,  ///< it is too hot
  kPowerBrake,       ///< the power supply asked for less
};

/// "power cap", "hardware slowdown", "software thermal slowdown", "hardware thermal slowdown",
/// "power brake".
[[nodiscard]] std::string_view to_string(Slowdown slowdown);

/// The inverse of to_string. Throws InputError for any other text.
[[nodiscard]] Slowdown slowdown_from_string(std::string_view text);

/// All but the power cap, which is part of what a kernel costs, are faults of the machine: times
/// measured meanwhile say nothing of the kernel.
[[nodiscard]] bool spoils_times(Slowdown slowdown);

/// A card while a kernel was timed on it, as the driver told. What it did not tell is missing.
struct CardState {
  int looks = 0;
  std::optional<double> sm_clock_min_mhz = {};
  std::optional<double> sm_clock_median_mhz = {};
  std::optional<double> memory_clock_mhz = {};
  std::optional<double> temperature_c = {};
  std::optional<double> power_w = {};
  std::vector<Slowdown> slowdowns = {};  ///< any seen, in the order of the enumeration
  std::int64_t discarded = 0;  ///< samples that were taken while it was throttled, and again later
  bool throttled = false;      ///< it stayed throttled: samples had to be kept all the same
  std::vector<std::string> others = {};  ///< other processes on the card: "4711 (python3)"
  /// How busy others kept it before this process launched anything; only where they are not listed.
  std::optional<double> busy_before_percent = {};

  bool operator==(const CardState&) const = default;
};

/// What one launch takes from the card's supply, as its counter says.
struct Energy {
  double launch_mj = 0;       ///< millijoules of one launch, the whole card's
  double power_w = 0;         ///< mean over the window
  double window_s = 0;        ///< between two changes of the counter
  std::int64_t launches = 0;  ///< in the window

  bool operator==(const Energy&) const = default;
};

}  // namespace evo
