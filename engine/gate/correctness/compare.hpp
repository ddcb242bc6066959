#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "engine/core/measurement.hpp"
#include "engine/gate/correctness/expectation.hpp"
#include "engine/problem/problem.hpp"

namespace evo {

/// How an output compares with its reference.
struct Comparison {
  std::size_t compared = 0;  ///< elements; a comparison of none never passes
  double max_abs_error = 0;  ///< over elements where both are finite
  double bad_share = 0;      ///< elements beyond bad_abs_error or wrongly non-finite, 0…1
  double relative_l2 = 0;  ///< ‖out − ref‖ / ‖ref‖; infinite when only the reference is zero
  /// Largest |out − ref| / rms of ref over the element's row; infinite for a wrong element of a row
  /// of zeros; 0 when there are no rows.
  double max_row_error = 0;
  std::size_t worst_row_index = 0;  ///< the element with that error
  std::string worst_row_value = {};
  std::string worst_row_expected = {};
  std::size_t non_finite = 0;   ///< elements not finite where the reference is (or the reverse)
  std::size_t worst_index = 0;  ///< the first wrongly non-finite element, else the largest error
  std::string worst_value = {};
  std::string worst_expected = {};
};

/// Compares every element of `output` (packed, of the expectation's type and number) with what is
/// expected: floating-point numbers in double precision, integers as integers of their width.
/// `row_length`: elements of a row, which divides their number; 0: there are no rows. Throws
/// InputError when the sizes differ.
[[nodiscard]] Comparison compare(std::span<const std::byte> output, const Expectation& expected,
                                 double bad_abs_error, std::size_t row_length = 0);

/// The worse figures of both, for the next output argument of a check.
void add_figures(CheckResult& check, const Comparison& comparison);

/// Why the comparison fails the tolerance, in one line naming the figure, the bound and the worst
/// element of argument `name`; nothing when it passes. NaN never passes, nor does a comparison of
/// no element.
[[nodiscard]] std::optional<std::string> violation(const Comparison& comparison,
                                                   const Tolerance& tolerance,
                                                   const std::string& name);

}  // namespace evo
