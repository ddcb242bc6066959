#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/core/card_state.hpp"

namespace evo {

/// How fast a card runs at one instant.
struct CardPace {
  std::optional<double> sm_clock_mhz = {};
  std::vector<Slowdown> slowdowns = {};  ///< in the order of the enumeration
};

/// Properties that change slowly.
struct CardCondition {
  std::optional<double> memory_clock_mhz = {};
  std::optional<double> temperature_c = {};
  std::optional<double> power_w = {};
};

/// Reads a card's state from its driver while kernels run. It changes no setting. Unreported values
/// are missing, and no call throws.
class CardMonitor {
 public:
  virtual ~CardMonitor() = default;

  [[nodiscard]] virtual CardPace pace() = 0;
  [[nodiscard]] virtual CardCondition condition() = 0;
  /// Other processes with a context on the card: "4711 (python3)". Excludes this process and others
  /// that the same program started. Empty if there are none or if the driver does not list them.
  [[nodiscard]] virtual std::vector<std::string> other_processes() = 0;
  /// Share of the last second, or of the driver's shorter period, in which any kernel ran.
  [[nodiscard]] virtual std::optional<double> busy_percent() = 0;
  /// The card's energy counter, in millijoules since an arbitrary start.
  [[nodiscard]] virtual std::optional<double> energy_mj() = 0;
};

}  // namespace evo
