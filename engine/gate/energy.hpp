#pragma once

#include <functional>
#include <optional>
#include <string>

#include "engine/core/card_state.hpp"
#include "engine/gate/correctness_result.hpp"
#include "engine/gate/stopwatch.hpp"

namespace evo {

class CardMonitor;

/// Seconds between which energy is counted.
struct EnergyOptions {
  double settle_s = 0.3;  ///< of launches before: power and its counter lag behind
  double window_s = 1.0;  ///< at least
  double patience_s = 2;  ///< a counter that does not change for so long stands still
};

/// The window of one measurement, from one change of the energy counter to another one at least
/// `window_s` later: between its updates the counter says nothing.
class EnergyWindow {
 public:
  explicit EnergyWindow(const EnergyOptions& options) : options_(options) {}

  /// What the counter says at `now_s`, after so many launches since the first reading.
  void add(double now_s, double counter_mj, std::int64_t launches);
  [[nodiscard]] bool is_finished() const { return energy_.has_value(); }
  [[nodiscard]] bool stands_still() const { return stands_still_; }
  [[nodiscard]] const std::optional<Energy>& energy() const { return energy_; }

 private:
  struct Reading {
    double now_s = 0;
    double counter_mj = 0;
    std::int64_t launches = 0;
  };

  EnergyOptions options_;
  std::optional<Reading> start_;
  std::optional<Reading> last_change_;
  std::optional<Reading> first_edge_;
  std::optional<Energy> energy_;
  bool stands_still_ = false;
};

struct EnergyResult {
  std::optional<Energy> energy = {};
  std::string not_supported = {};  ///< why there is none
  std::optional<Rejection> rejection = {};
  bool device_lost = false;
};

/// What one launch takes from the card's supply: the kernel is launched again and again as it is
/// timed, in graphs over rotating inputs, and the growth of the card's counter is divided by the
/// number of launches. It is the whole card's energy, what it takes when idle included. `now_s`: a
/// steady clock in seconds; `monitor`: null where nobody counts.
[[nodiscard]] EnergyResult measure_energy(const Stopwatch::Setup& setup, const LoadedKernel& kernel,
                                          const Shape& shape, CardMonitor* monitor,
                                          const EnergyOptions& options, const Progress& progress,
                                          const std::function<double()>& now_s);

}  // namespace evo
