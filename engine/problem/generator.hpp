#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/problem/dtype.hpp"

namespace evo {

enum class Distribution { kNormal, kUniform, kIntegers, kConstant };

/// The whole numbers from low to high, both included: 64 bits that mean signed numbers when
/// `is_signed`.
struct IntegerRange {
  bool is_signed = false;
  std::uint64_t low = 0;
  std::uint64_t high = 0;
};

/// Values that break kernels, of which a few stand among those drawn at random. The first five
/// only where the distribution may give them.
struct SpecialValues {
  bool zero = true;      ///< 0, and −0 where negative numbers are drawn
  bool denormal = true;  ///< of the smallest, of both signs
  bool equal = true;     ///< the element before once more
  bool ends = true;      ///< the extremes of the distribution
  bool runs = true;      ///< pieces in order or of one value, see Draw::with_runs
  bool limits = false;   ///< the ends of the type's range
  bool infinity = false;
  bool nan = false;
};

/// How an input argument is filled.
struct Generator {
  Distribution distribution = Distribution::kNormal;
  double first = 0;            ///< mean, low, unused, value
  double second = 1;           ///< standard deviation, high, unused, unused
  IntegerRange integers = {};  ///< of kIntegers
  SpecialValues special = {};  ///< of all but kConstant
};

/// The smallest and the largest value that a normal, uniform or constant distribution gives in
/// elements of `dtype`, before they are rounded to it. What a type does not hold is not cut off.
struct Extremes {
  double low = 0;
  double high = 0;
};
[[nodiscard]] Extremes extremes_of(const Generator& generator, Dtype dtype);

/// What decides about the elements beside their distribution.
struct Draw {
  std::uint64_t seed = 0;
  /// Pieces of the input are sorted or of one value.
  bool with_runs = false;
  /// Zeros and ends, which would be equal in several arguments.
  bool with_common_values = true;
};

/// `count` elements of `dtype`, packed. The same bytes for the same arguments on every machine.
///
/// Elements of one and two bytes are drawn from 2^16 equally likely quantiles (the normal
/// distribution reaches ±4.3 standard deviations), of four bytes from 2^32 (±6.3) and of eight
/// from 2^64 (±9.1). The normal distribution is linear between 2^16 quantiles, but for the first
/// and last part. Uniform numbers in f32 and f64 are at least `low` and below `high`, where the
/// type has such numbers; rounding to a shorter type may reach `high`. Integers are drawn evenly
/// from the whole range and are exact where `dtype` holds them.
[[nodiscard]] std::vector<std::byte> generate(const Generator& generator, Dtype dtype,
                                              std::size_t count, const Draw& draw);

}  // namespace evo
