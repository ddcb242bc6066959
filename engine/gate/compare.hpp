#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "engine/core/measurement.hpp"
#include "engine/problem/dtype.hpp"
#include "engine/problem/problem.hpp"

namespace evo {

/// How an output compares with its reference.
struct Comparison {
  double max_abs_error = 0;  ///< over elements where both are finite
  double bad_share = 0;      ///< elements beyond bad_abs_error or wrongly non-finite, 0…1
  double relative_l2 = 0;  ///< ‖out − ref‖ / ‖ref‖; infinite when only the reference is zero
  /// Largest |out − ref| / rms of ref over the element's row; infinite for a wrong element of a row
  /// of zeros; 0 when there are no rows.
  double max_row_error = 0;
  std::size_t worst_row_index = 0;  ///< the element with that error
  double worst_row_value = 0;
  double worst_row_expected = 0;
  std::size_t non_finite = 0;   ///< elements not finite where the reference is (or the reverse)
  std::size_t worst_index = 0;  ///< the first wrongly non-finite element, else the largest error
  double worst_value = 0;
  double worst_expected = 0;
};

/// Compares every element of `output` (packed, of `dtype`) with `expected`. `row_length`: elements
/// of a row, which divides their number; 0: there are no rows.
[[nodiscard]] Comparison compare(Dtype dtype, std::span<const std::byte> output,
                                 std::span<const double> expected, double bad_abs_error,
                                 std::size_t row_length = 0);

/// The worse figures of both, for the next output argument of a check.
void add_figures(CheckResult& check, const Comparison& comparison);

/// Why the comparison fails the tolerance, in one line naming the figure, the bound and the worst
/// element of argument `name`; nothing when it passes. NaN never passes.
[[nodiscard]] std::optional<std::string> violation(const Comparison& comparison,
                                                   const Tolerance& tolerance,
                                                   const std::string& name);

}  // namespace evo
