#include "engine/gate/compare.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <vector>

#include "engine/core/error.hpp"

namespace evo {
namespace {

/// Sums of squares of f64 values overflow and underflow a double; those of shorter types cannot.
using Wide = long double;

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

/// Both NaN, or the same infinity.
bool same_special(double a, double b) { return (std::isnan(a) && std::isnan(b)) || a == b; }

/// |a − b| of 64-bit integers: rounded to double, but 0 only when they are equal.
template <typename T>
double distance_at(const std::byte* a, const std::byte* b) {
  T x = 0;
  T y = 0;
  std::memcpy(&x, a, sizeof x);
  std::memcpy(&y, b, sizeof y);
  const T larger = std::max(x, y);
  const T smaller = std::min(x, y);
  return static_cast<double>(static_cast<std::uint64_t>(larger) -
                             static_cast<std::uint64_t>(smaller));
}

/// |output − expected| of every element; not finite where one of the two is not.
std::vector<double> errors_of(std::span<const std::byte> output, const std::vector<double>& values,
                              const Expectation& expected) {
  const Dtype dtype = expected.dtype();
  std::vector<double> errors(values.size());
  if (dtype == Dtype::kI64 || dtype == Dtype::kU64) {
    const auto distance =
        dtype == Dtype::kI64 ? distance_at<std::int64_t> : distance_at<std::uint64_t>;
    for (std::size_t i = 0; i < errors.size(); ++i) {
      errors[i] = distance(output.data() + i * sizeof(std::uint64_t), expected.element(i).data());
    }
    return errors;
  }
  for (std::size_t i = 0; i < errors.size(); ++i) {
    errors[i] = std::fabs(values[i] - expected.values()[i]);
  }
  return errors;
}

/// Root of the mean square of the finite elements; 0 when there are none.
template <typename Sum>
double rms_of(std::span<const double> row) {
  Sum square = 0;
  std::size_t count = 0;
  for (const double value : row) {
    if (!std::isfinite(value)) continue;
    square += static_cast<Sum>(value) * static_cast<Sum>(value);
    ++count;
  }
  return count == 0 ? 0 : static_cast<double>(std::sqrt(square / static_cast<Sum>(count)));
}

/// The figures of a comparison that are relative to a row.
template <typename Sum>
void compare_rows(const std::vector<double>& errors, std::span<const double> expected,
                  std::size_t row_length, Comparison& result) {
  for (std::size_t start = 0; start < expected.size(); start += row_length) {
    const double rms = rms_of<Sum>(expected.subspan(start, row_length));
    for (std::size_t i = start; i < start + row_length; ++i) {
      const double error = errors[i];
      if (!std::isfinite(error) || error == 0) continue;
      const double relative = error / rms;  // infinite in a row of zeros
      if (relative <= result.max_row_error) continue;
      result.max_row_error = relative;
      result.worst_row_index = i;
    }
  }
}

template <typename Sum>
Comparison compare_with(std::span<const std::byte> output, const Expectation& expectation,
                        double bad_abs_error, std::size_t row_length) {
  const std::vector<double> values = decode_all(expectation.dtype(), output);
  const std::vector<double>& expected = expectation.values();
  const std::vector<double> errors = errors_of(output, values, expectation);
  Comparison result;
  result.compared = expected.size();
  Sum error_square = 0;
  Sum reference_square = 0;
  std::size_t bad = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double error = errors[i];
    if (std::isfinite(error)) {
      error_square += static_cast<Sum>(error) * static_cast<Sum>(error);
      reference_square += static_cast<Sum>(expected[i]) * static_cast<Sum>(expected[i]);
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
  result.bad_share = static_cast<double>(bad) / static_cast<double>(expected.size());
  if (reference_square > 0) {
    result.relative_l2 = static_cast<double>(std::sqrt(error_square / reference_square));
  } else if (error_square > 0) {
    result.relative_l2 = std::numeric_limits<double>::infinity();
  }
  if (row_length > 0) compare_rows<Sum>(errors, expected, row_length, result);
  const auto text_at = [&](std::span<const std::byte> bytes, std::size_t index) {
    return element_text(expectation.dtype(), bytes.data() + index * size_of(expectation.dtype()));
  };
  result.worst_value = text_at(output, result.worst_index);
  result.worst_expected = text_at(expectation.bytes(), result.worst_index);
  result.worst_row_value = text_at(output, result.worst_row_index);
  result.worst_row_expected = text_at(expectation.bytes(), result.worst_row_index);
  return result;
}

}  // namespace

Comparison compare(std::span<const std::byte> output, const Expectation& expected,
                   double bad_abs_error, std::size_t row_length) {
  if (output.size() != expected.bytes().size() ||
      (row_length > 0 && expected.size() % row_length != 0)) {
    throw InputError("compare: " + std::to_string(output.size()) + " bytes in rows of " +
                     std::to_string(row_length) + " elements against " +
                     std::to_string(expected.bytes().size()) + " expected");
  }
  return expected.dtype() == Dtype::kF64
             ? compare_with<Wide>(output, expected, bad_abs_error, row_length)
             : compare_with<double>(output, expected, bad_abs_error, row_length);
}

void add_figures(CheckResult& check, const Comparison& comparison) {
  check.max_abs_error = std::max(check.max_abs_error, comparison.max_abs_error);
  check.bad_share = std::max(check.bad_share, comparison.bad_share);
  check.relative_l2 = std::max(check.relative_l2, comparison.relative_l2);
  check.max_row_error = std::max(check.max_row_error, comparison.max_row_error);
}

std::optional<std::string> violation(const Comparison& comparison, const Tolerance& tolerance,
                                     const std::string& name) {
  if (comparison.compared == 0) return "no element of '" + name + "' was compared";
  std::string why;
  std::size_t index = comparison.worst_index;
  const std::string* value = &comparison.worst_value;
  const std::string* expected = &comparison.worst_expected;
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
    value = &comparison.worst_row_value;
    expected = &comparison.worst_row_expected;
  } else {
    return std::nullopt;
  }
  return why + "; worst: " + name + "[" + std::to_string(index) + "] = " + *value + ", expected " +
         *expected;
}

}  // namespace evo
