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
  double max_abs_error = 0;  ///< over elements that are finite in both
  double bad_share = 0;    ///< share of elements beyond bad_abs_error or wrongly non-finite, 0…1
  double relative_l2 = 0;  ///< ‖out − ref‖ / ‖ref‖; infinite if only the reference is zero
  /// Largest |out − ref| / rms of ref over the element's row. Infinite for a wrong element in a row
  /// of zeros; 0 without rows.
  double max_row_error = 0;
  std::size_t worst_row_index = 0;  ///< index of the element with max_row_error
  std::string worst_row_value = {};
  std::string worst_row_expected = {};
  /// number of elements that are finite in only one of output and reference
  std::size_t non_finite = 0;
  std::size_t worst_index = 0;  ///< index of the first wrongly non-finite element, else largest
                                ///< error
  std::string worst_value = {};
  std::string worst_expected = {};
};

/// Compares every element of `output` with `expected`, which has the same type and number of
/// elements. Floating-point numbers are compared in double precision, integers exactly.
/// `row_length`: elements per row, a divisor of the number of elements; 0: no rows. Throws
/// InputError when the sizes differ.
[[nodiscard]] Comparison compare(std::span<const std::byte> output, const Expectation& expected,
                                 double bad_abs_error, std::size_t row_length = 0);

/// Sets each figure of `check` to the worse of itself and that of `comparison`.
void add_figures(CheckResult& check, const Comparison& comparison);

/// Says why the comparison violates the tolerance, in one line with the figure, the bound and the
/// worst element of argument `name`. Nullopt if the comparison passes. NaN and a comparison without
/// elements never pass.
[[nodiscard]] std::optional<std::string> violation(const Comparison& comparison,
                                                   const Tolerance& tolerance,
                                                   const std::string& name);

}  // namespace evo
