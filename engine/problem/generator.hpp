#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/problem/dtype.hpp"

namespace evo {

enum class Distribution { kNormal, kUniform, kIntegers, kConstant };

/// The whole numbers from low to high, inclusive, as 64 bits; they are signed if `is_signed`.
struct IntegerRange {
  bool is_signed = false;
  std::uint64_t low = 0;
  std::uint64_t high = 0;
};

/// Values that break kernels. A few of them are placed among the random elements. The first five
/// are used only if the distribution can produce them.
struct SpecialValues {
  bool zero = true;      ///< 0, and −0 if the distribution contains negative numbers
  bool denormal = true;  ///< the smallest denormals of both signs
  bool equal = true;     ///< the previous element repeated
  bool ends = true;      ///< the extremes of the distribution
  bool runs = true;      ///< sorted or constant runs, see Draw::with_runs
  bool limits = false;   ///< the ends of the type's range
  bool infinity = false;
  bool nan = false;
};

/// How an input argument is filled.
struct Generator {
  Distribution distribution = Distribution::kNormal;
  double first = 0;            ///< mean, low, unused, value
  double second = 1;           ///< standard deviation, high, unused, unused
  IntegerRange integers = {};  ///< for kIntegers
  SpecialValues special = {};  ///< for all but kConstant
};

/// The smallest and the largest value that a normal, uniform or constant distribution produces for
/// `dtype`, before rounding. Values outside of the type's range are not clipped.
struct Extremes {
  double low = 0;
  double high = 0;
};
[[nodiscard]] Extremes extremes_of(const Generator& generator, Dtype dtype);

/// Influences on the elements beside their distribution.
struct Draw {
  std::uint64_t seed = 0;
  /// True: pieces of the input are sorted or constant.
  bool with_runs = false;
  /// True: zeros and extremes are placed, which may be equal in several arguments.
  bool with_common_values = true;
};

/// Generates `count` packed elements of `dtype`. The same arguments give the same bytes on every
/// machine.
///
/// Elements of one and two bytes are drawn from 2^16 equally likely quantiles (the normal
/// distribution reaches ±4.3 standard deviations), elements of four bytes from 2^32 (±6.3) and of
/// eight bytes from 2^64 (±9.1). The normal distribution is linear between 2^16 quantiles, except
/// in the first and last interval. Uniform f32 and f64 numbers are at least `low` and below `high`
/// if the type has such numbers; rounding to a shorter type may reach `high`. Integers are uniform
/// over the whole range and exact if `dtype` represents them.
[[nodiscard]] std::vector<std::byte> generate(const Generator& generator, Dtype dtype,
                                              std::size_t count, const Draw& draw);

}  // namespace evo
