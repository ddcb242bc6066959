#pragma once

#include <optional>
#include <string>

#include "engine/core/card_state.hpp"
#include "engine/core/expression.hpp"
#include "engine/core/measurement.hpp"

namespace evo {

/// Seconds over which the energy is measured, for a candidate and for a member of the elite.
inline constexpr double kCandidateEnergy_s = 0.3;
inline constexpr double kEliteEnergy_s = 1.0;

/// The quantity that a run minimises: "time", "energy", or an expression over both, where time is
/// the median in microseconds and energy the millijoules of one launch. For example
/// "time*energy^0.5".
class Objective {
 public:
  /// Throws InputError if `text` is no expression, names anything else, or names neither of the
  /// two.
  explicit Objective(const std::string& text);

  [[nodiscard]] const std::string& text() const { return expression_.text(); }
  /// True if only the time decides; then pairs are compared and slow kernels are timed coarsely.
  [[nodiscard]] bool is_time() const { return text() == "time"; }
  [[nodiscard]] bool uses_energy() const { return uses_energy_; }

  /// The value; nullopt if it needs the energy and that is unknown. Throws InputError if it is not
  /// a positive number.
  [[nodiscard]] std::optional<double> of(const Timing& timing,
                                         const std::optional<Energy>& energy) const;

 private:
  Expression expression_;
  bool uses_energy_ = false;
};

}  // namespace evo
