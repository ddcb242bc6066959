#pragma once

#include <optional>
#include <string>

#include "engine/core/expression.hpp"
#include "engine/core/gpu_state.hpp"
#include "engine/core/measurement.hpp"

namespace evo {

/// How long the energy of a candidate, or of a member of the elite, is measured, in seconds.
inline constexpr double kCandidateEnergy_s = 0.3;
inline constexpr double kEliteEnergy_s = 1.0;

/// The quantity that a run minimises: "time", "energy", or an expression over both, for example
/// "time*energy^0.5". `time` is the median time of a launch in microseconds, `energy` the
/// millijoules of a launch.
class Objective {
 public:
  /// Parses the expression `text`. Throws InputError if `text` is not an expression, contains a
  /// name other than `time` and `energy`, or contains no name.
  explicit Objective(const std::string& text);

  [[nodiscard]] const std::string& text() const { return expression_.text(); }
  /// True if the objective is "time" itself. Runs with another objective make no A/B comparisons,
  /// and do not stop the timing of slow kernels early.
  [[nodiscard]] bool is_time() const { return text() == "time"; }
  [[nodiscard]] bool uses_energy() const { return uses_energy_; }

  /// The value of the objective for a kernel; nullopt if it depends on the energy and `energy` is
  /// nullopt. Throws InputError if the value is not a positive number.
  [[nodiscard]] std::optional<double> of(const Timing& timing,
                                         const std::optional<Energy>& energy) const;

 private:
  Expression expression_;
  bool uses_energy_ = false;
};

}  // namespace evo
