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

/// What changes slowly.
struct CardCondition {
  std::optional<double> memory_clock_mhz = {};
  std::optional<double> temperature_c = {};
  std::optional<double> power_w = {};
};

/// What a card's driver tells about it while it works. Everything is read, nothing is set; what the
/// driver does not tell is missing, and no call throws.
class CardMonitor {
 public:
  virtual ~CardMonitor() = default;

  [[nodiscard]] virtual CardPace pace() = 0;
  [[nodiscard]] virtual CardCondition condition() = 0;
  /// Processes that have a context on the card, but this one and others that the same program
  /// started: "4711 (python3)". Empty where there are none, and where the driver does not list
  /// them.
  [[nodiscard]] virtual std::vector<std::string> other_processes() = 0;
  /// Share of the last second, or less, in which any kernel ran.
  [[nodiscard]] virtual std::optional<double> busy_percent() = 0;
  /// The energy that the card has taken so far, in millijoules from some start.
  [[nodiscard]] virtual std::optional<double> energy_mj() = 0;
};

}  // namespace evo
