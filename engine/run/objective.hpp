#pragma once

#include <optional>
#include <string>

#include "engine/core/card_state.hpp"
#include "engine/core/expression.hpp"
#include "engine/core/measurement.hpp"

namespace evo {

/// Seconds over which the energy of a candidate is counted, and that of one for the elite.
inline constexpr double kCandidateEnergy_s = 0.3;
inline constexpr double kEliteEnergy_s = 1.0;

/// What a run makes as small as possible: "time", "energy", or an expression over both, of the
/// median microseconds and the millijoules of one launch. "time*energy^0.5" weighs them.
class Objective {
 public:
  /// Throws InputError when `text` is no expression, or names anything else, or neither of the two.
  explicit Objective(const std::string& text);

  [[nodiscard]] const std::string& text() const { return expression_.text(); }
  /// Then the time decides as it always did: pairs are compared, slow kernels given up.
  [[nodiscard]] bool is_time() const { return text() == "time"; }
  [[nodiscard]] bool uses_energy() const { return uses_energy_; }

  /// Nothing where it uses energy and that is not known. Throws InputError when it is not a
  /// positive number.
  [[nodiscard]] std::optional<double> of(const Timing& timing,
                                         const std::optional<Energy>& energy) const;

 private:
  Expression expression_;
  bool uses_energy_ = false;
};

}  // namespace evo
