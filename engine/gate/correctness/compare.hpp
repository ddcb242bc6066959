#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "engine/core/measurement.hpp"
#include "engine/gate/correctness/expectation.hpp"
#include "engine/problem/problem.hpp"

namespace evo {

/// The comparison of an output with its reference.
struct Comparison {
  std::size_t compared = 0;  ///< number of elements; a comparison without elements never passes
  double max_abs_error = 0;  ///< over elements that are finite in output and reference
  /// share, 0…1, of elements whose error exceeds bad_abs_error or that are wrongly non-finite
  double bad_share = 0;
  double relative_l2 = 0;  ///< ‖out − ref‖ / ‖ref‖; infinite if only the reference is zero
  /// Largest ratio of |out − ref| to the root mean square of ref in the element's row; infinite for
  /// a wrong element in a row of zeros; 0 if the output has no rows.
  double max_row_error = 0;
  std::size_t worst_row_index = 0;  ///< index of the element with max_row_error
  std::string worst_row_value = {};
  std::string worst_row_expected = {};
  /// number of elements that are not finite in the output or in the reference, or whose difference
  /// overflows a double, except if both are NaN or the same infinity
  std::size_t non_finite = 0;
  /// Index of the first element counted in `non_finite`; if there is none, index of the element
  /// with the largest error.
  std::size_t worst_index = 0;
  std::string worst_value = {};
  std::string worst_expected = {};
  bool worst_is_finite = true;           ///< whether worst_value is finite
  bool worst_expected_is_finite = true;  ///< whether worst_expected is finite
};

/// Compares every element of `output` with `expected`, which has the same type and number of
/// elements. Floating-point numbers are compared in double precision, integers exactly.
/// `row_length`: elements per row, which divides the number of elements; 0 if the output has no
/// rows. Throws InputError if the sizes differ or `row_length` does not divide the number of
/// elements.
[[nodiscard]] Comparison compare(std::span<const std::byte> output, const Expectation& expected,
                                 double bad_abs_error, std::size_t row_length = 0);

/// Raises each error in `check` to the error in `comparison` if the latter is larger.
void add_figures(CheckResult& check, const Comparison& comparison);

/// Says in one line why the comparison fails: the error and its bound (or the number of non-finite
/// elements, and whether the first of them is in the output or in the reference; or a relative L2
/// error of 1 or more), and the worst element of argument `name`.
/// Nullopt if the comparison passes. An error that is NaN never passes. A comparison without
/// elements fails, too; its line names only the argument.
[[nodiscard]] std::optional<std::string> violation(const Comparison& comparison,
                                                   const Tolerance& tolerance,
                                                   const std::string& name);

}  // namespace evo
