#include "engine/gate/correctness/compare.hpp"

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

/// The type for sums of squares of f64 values, because these sums, unlike sums for other types, may
/// overflow or underflow a double.
using Wide = long double;

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

/// Whether both numbers are NaN, or both are the same infinity.
bool same_special(double a, double b) { return (std::isnan(a) && std::isnan(b)) || a == b; }

/// |a − b| of 64-bit integers, rounded to double; 0 only if `a` equals `b`.
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

/// Computes each element's |output − expected|; not finite if one of the two is not finite.
class Errors {
 public:
  Errors(std::span<const std::byte> output, const Expectation& expected)
      : output_(output), expected_(expected), values_(decode_all(expected.dtype(), output)) {}

  [[nodiscard]] double value(std::size_t i) const { return values_[i]; }
  [[nodiscard]] double at(std::size_t i) const {
    const std::size_t byte = i * sizeof(std::uint64_t);
    if (expected_.dtype() == Dtype::kI64) {
      return distance_at<std::int64_t>(output_.data() + byte, expected_.bytes().data() + byte);
    }
    if (expected_.dtype() == Dtype::kU64) {
      return distance_at<std::uint64_t>(output_.data() + byte, expected_.bytes().data() + byte);
    }
    return std::fabs(values_[i] - expected_.values()[i]);
  }

 private:
  std::span<const std::byte> output_;
  const Expectation& expected_;
  std::vector<double> values_;
};

/// Root mean square of the finite elements; 0 if there are none.
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

/// Computes the error statistics of one comparison, element by element and row by row.
template <typename Sum>
class Figures {
 public:
  Figures(const Errors& errors, const std::vector<double>& expected, double bad_abs_error)
      : errors_(errors), expected_(expected), bad_abs_error_(bad_abs_error) {}

  /// Adds `length` elements from index `start` on, which are one row if `is_row`.
  void add(std::size_t start, std::size_t length, bool is_row) {
    double largest = 0;
    std::size_t largest_at = start;
    for (std::size_t i = start; i < start + length; ++i) {
      const double error = errors_.at(i);
      if (!std::isfinite(error)) {
        add_special(i);
        continue;
      }
      error_square_ += static_cast<Sum>(error) * static_cast<Sum>(error);
      reference_square_ += static_cast<Sum>(expected_[i]) * static_cast<Sum>(expected_[i]);
      bad_ += error > bad_abs_error_ ? 1 : 0;
      if (error > largest) {
        largest = error;
        largest_at = i;
      }
    }
    if (largest > result_.max_abs_error) {
      result_.max_abs_error = largest;
      if (result_.non_finite == 0) result_.worst_index = largest_at;
    }
    if (!is_row || largest == 0) return;
    // If all expected elements of a row with an error are 0, the relative error is infinite.
    const double relative = largest / rms_of<Sum>(std::span(expected_).subspan(start, length));
    if (relative <= result_.max_row_error) return;
    result_.max_row_error = relative;
    result_.worst_row_index = largest_at;
  }

  [[nodiscard]] Comparison take() {
    result_.compared = expected_.size();
    result_.bad_share = static_cast<double>(bad_) / static_cast<double>(expected_.size());
    if (reference_square_ > 0) {
      result_.relative_l2 = static_cast<double>(std::sqrt(error_square_ / reference_square_));
    } else if (error_square_ > 0) {
      result_.relative_l2 = std::numeric_limits<double>::infinity();
    }
    return std::move(result_);
  }

 private:
  void add_special(std::size_t i) {
    if (same_special(errors_.value(i), expected_[i])) return;
    if (result_.non_finite++ == 0) result_.worst_index = i;
    ++bad_;
  }

  const Errors& errors_;
  const std::vector<double>& expected_;
  double bad_abs_error_;
  Sum error_square_ = 0;
  Sum reference_square_ = 0;
  std::size_t bad_ = 0;
  Comparison result_;
};

template <typename Sum>
Comparison compare_with(std::span<const std::byte> output, const Expectation& expectation,
                        double bad_abs_error, std::size_t row_length) {
  const std::size_t count = expectation.size();
  if (count == 0) return {};
  const Errors errors(output, expectation);
  Figures<Sum> figures(errors, expectation.values(), bad_abs_error);
  const std::size_t step = row_length > 0 ? row_length : count;
  for (std::size_t start = 0; start < count; start += step) {
    figures.add(start, step, row_length > 0);
  }
  Comparison result = figures.take();
  const auto text_at = [&](std::span<const std::byte> bytes, std::size_t index) {
    return element_text(expectation.dtype(), bytes.data() + index * size_of(expectation.dtype()));
  };
  result.worst_value = text_at(output, result.worst_index);
  result.worst_expected = text_at(expectation.bytes(), result.worst_index);
  result.worst_is_finite = std::isfinite(errors.value(result.worst_index));
  result.worst_expected_is_finite = std::isfinite(expectation.values()[result.worst_index]);
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

namespace {

/// Says what is not finite about the first element that Comparison::non_finite counts; "" if it is
/// the output.
std::string place_of(const Comparison& comparison) {
  if (!comparison.worst_is_finite) return {};
  return comparison.worst_expected_is_finite
             ? "; the error of the first overflows a double"
             : "; the reference holds the first, where the output is finite";
}

}  // namespace

std::optional<std::string> violation(const Comparison& comparison, const Tolerance& tolerance,
                                     const std::string& name) {
  if (comparison.compared == 0) return "no element of '" + name + "' was compared";
  std::string why;
  std::size_t index = comparison.worst_index;
  const std::string* value = &comparison.worst_value;
  const std::string* expected = &comparison.worst_expected;
  if (comparison.non_finite > 0) {
    why = std::to_string(comparison.non_finite) + " non-finite element(s)" + place_of(comparison);
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
  } else if (comparison.relative_l2 >= 1) {
    // A relative L2 error of 1 or more is always rejected, because an output of zeros has the error
    // 1.
    why = "relative L2 error " + number(comparison.relative_l2) + ", no better than zeros";
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
