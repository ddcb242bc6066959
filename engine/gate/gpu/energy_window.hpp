#pragma once

#include <cstdint>
#include <optional>

#include "engine/core/gpu_state.hpp"

namespace evo {

/// Durations, in seconds, that control a measurement of energy.
struct EnergyOptions {
  double settle_s = 0.3;  ///< warm-up, because the power and the counter lag behind the load
  double window_s = 1.0;  ///< shortest measurement
  double patience_s = 2;  ///< a counter that is constant for this long counts as broken
};

/// The time span of one energy measurement. The span starts and ends at updates of the energy
/// counter, at least `window_s` apart, because the counter is exact only when it is updated.
class EnergyWindow {
 public:
  explicit EnergyWindow(const EnergyOptions& options) : options_(options) {}

  /// Adds a reading of the energy counter at the time `now_s`, with the number of launches since
  /// the first reading.
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

}  // namespace evo
