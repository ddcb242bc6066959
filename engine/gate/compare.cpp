#include "engine/gate/compare.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <vector>

namespace evo {
namespace {

std::string number(double value) {
  if (std::isnan(value)) return "nan";  // not "-nan": its sign means nothing
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

/// Both NaN, or the same infinity.
bool same_special(double a, double b) { return (std::isnan(a) && std::isnan(b)) || a == b; }

/// Root of the mean square of the finite elements; 0 when there are none.
double rms_of(std::span<const double> row) {
  double square = 0;
  std::size_t count = 0;
  for (const double value : row) {
    if (!std::isfinite(value)) continue;
    square += value * value;
    ++count;
  }
  return count == 0 ? 0 : std::sqrt(square / static_cast<double>(count));
}

/// The figures of a comparison that are relative to a row.
void compare_rows(std::span<const double> values, std::span<const double> expected,
                  std::size_t row_length, Comparison& result) {
  for (std::size_t start = 0; start < expected.size(); start += row_length) {
    const double rms = rms_of(expected.subspan(start, row_length));
    for (std::size_t i = start; i < start + row_length; ++i) {
      const double error = std::fabs(values[i] - expected[i]);
      if (!std::isfinite(error) || error == 0) continue;
      const double relative = error / rms;  // infinite in a row of zeros
      if (relative <= result.max_row_error) continue;
      result.max_row_error = relative;
      result.worst_row_index = i;
      result.worst_row_value = values[i];
      result.worst_row_expected = expected[i];
    }
  }
}

}  // namespace

Comparison compare(Dtype dtype, std::span<const std::byte> output, std::span<const double> expected,
                   double bad_abs_error, std::size_t row_length) {
  const std::vector<double> values = decode_all(dtype, output);
  Comparison result;
  double error_square = 0;
  double reference_square = 0;
  std::size_t bad = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double error = std::fabs(values[i] - expected[i]);
    if (std::isfinite(error)) {
      error_square += error * error;
      reference_square += expected[i] * expected[i];
      bad += error > bad_abs_error ? 1 : 0;
      if (error > result.max_abs_error) {
        result.max_abs_error = error;
        if (result.non_finite == 0) result.worst_index = i;
      }
    } else if (!same_special(values[i], expected[i])) {
      if (result.non_finite++ == 0) result.worst_index = i;
      ++bad;
    }
  }
  if (expected.empty()) return result;
  result.worst_value = values[result.worst_index];
  result.worst_expected = expected[result.worst_index];
  result.bad_share = static_cast<double>(bad) / static_cast<double>(expected.size());
  if (reference_square > 0) {
    result.relative_l2 = std::sqrt(error_square / reference_square);
  } else if (error_square > 0) {
    result.relative_l2 = std::numeric_limits<double>::infinity();
  }
  if (row_length > 0) compare_rows(values, expected, row_length, result);
  return result;
}

void add_figures(CheckResult& check, const Comparison& comparison) {
  check.max_abs_error = std::max(check.max_abs_error, comparison.max_abs_error);
  check.bad_share = std::max(check.bad_share, comparison.bad_share);
  check.relative_l2 = std::max(check.relative_l2, comparison.relative_l2);
  check.max_row_error = std::max(check.max_row_error, comparison.max_row_error);
}

std::optional<std::string> violation(const Comparison& comparison, const Tolerance& tolerance,
                                     const std::string& name) {
  std::string why;
  std::size_t index = comparison.worst_index;
  double value = comparison.worst_value;
  double expected = comparison.worst_expected;
  if (comparison.non_finite > 0) {
    why = std::to_string(comparison.non_finite) + " non-finite element(s)";
  } else if (!(comparison.max_abs_error <= tolerance.max_abs_error)) {
    why = "max abs error " + number(comparison.max_abs_error) + " > " +
          number(tolerance.max_abs_error);
  } else if (!(comparison.bad_share <= tolerance.bad_share)) {
    why = "share of bad elements " + number(comparison.bad_share) + " > " +
          number(tolerance.bad_share) + " (off by more than " + number(tolerance.bad_abs_error) +
          ")";
  } else if (!(comparison.relative_l2 <= tolerance.relative_l2)) {
    why = "relative L2 error " + number(comparison.relative_l2) + " > " +
          number(tolerance.relative_l2);
  } else if (!(comparison.max_row_error <= tolerance.max_row_error)) {
    why = "error relative to the row " + number(comparison.max_row_error) + " > " +
          number(tolerance.max_row_error);
    index = comparison.worst_row_index;
    value = comparison.worst_row_value;
    expected = comparison.worst_row_expected;
  } else {
    return std::nullopt;
  }
  return why + "; worst: " + name + "[" + std::to_string(index) + "] = " + number(value) +
         ", expected " + number(expected);
}

}  // namespace evo
