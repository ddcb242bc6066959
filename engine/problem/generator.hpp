#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/problem/dtype.hpp"

namespace evo {

enum class Distribution { kNormal, kUniform, kIntegers, kConstant };

/// The whole numbers from low to high, inclusive. If `is_signed`, `low` and `high` hold the bits of
/// signed 64-bit integers.
struct IntegerRange {
  bool is_signed = false;
  std::uint64_t low = 0;
  std::uint64_t high = 0;
};

/// The special values, such as zeros and NaN, that generate() places among the random elements
/// because they reveal errors of kernels. The members from `zero` to `runs` place only values that
/// the distribution can produce.
struct SpecialValues {
  bool zero = true;      ///< 0, and −0 if the distribution contains negative numbers
  bool denormal = true;  ///< the smallest denormals of both signs
  bool equal = true;     ///< an element that equals the previous one
  bool ends = true;      ///< the extremes of the distribution
  bool runs = true;      ///< sorted or constant runs, see Draw::with_runs
  bool limits = false;   ///< the ends of the type's range
  bool infinity = false;
  bool nan = false;
};

/// Describes how an input argument is filled.
struct Generator {
  Distribution distribution = Distribution::kNormal;
  double first = 0;            ///< by distribution: mean, low, unused, value
  double second = 1;           ///< by distribution: standard deviation, high, unused, unused
  IntegerRange integers = {};  ///< for kIntegers
  SpecialValues special = {};  ///< for all but kConstant
};

/// The smallest and the largest value that a normal, uniform or constant distribution produces for
/// `dtype`, before rounding and without clipping to the range of `dtype`.
struct Extremes {
  double low = 0;
  double high = 0;
};
[[nodiscard]] Extremes extremes_of(const Generator& generator, Dtype dtype);

/// Options of generate() that are independent of the distribution.
struct Draw {
  std::uint64_t seed = 0;
  /// True: generate() makes some stretches of consecutive elements sorted or constant.
  bool with_runs = false;
  /// True: generate() also places zeros and the extremes of the distribution. draw_of() chooses one
  /// input of each case for these values.
  bool with_common_values = true;
};

/// Generates `count` packed elements of `dtype`. The same arguments give the same bytes on every
/// machine.
///
/// Normal and uniform elements of one and two bytes are drawn from 2^16 equally likely quantiles
/// (the normal distribution reaches ±4.3 standard deviations), elements of four bytes from 2^32
/// (±6.3) and of eight bytes from 2^64 (±9.1). The normal distribution is interpolated linearly
/// between 2^12 quantiles, except in the 16 intervals at each end. Uniform f32 and f64 numbers are
/// at least `low` and below `high` if the type has such numbers; in shorter types, numbers may be
/// rounded out of this range. Integers are uniform over the whole range and exact if `dtype`
/// represents them.
[[nodiscard]] std::vector<std::byte> generate(const Generator& generator, Dtype dtype,
                                              std::size_t count, const Draw& draw);

}  // namespace evo
