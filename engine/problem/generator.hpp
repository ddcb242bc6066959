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

/// How an input argument is filled.
struct Generator {
  Distribution distribution = Distribution::kNormal;
  double first = 0;            ///< mean, low, unused, value
  double second = 1;           ///< standard deviation, high, unused, unused
  IntegerRange integers = {};  ///< of kIntegers
};

/// The smallest and the largest value that a normal, uniform or constant distribution gives.
struct Extremes {
  double low = 0;
  double high = 0;
};
[[nodiscard]] Extremes extremes_of(const Generator& generator);

/// `count` elements of `dtype`, packed. The same bytes for the same arguments.
///
/// The normal and uniform distributions are drawn from 2^16 equally likely quantiles (the normal
/// one reaches ±4.3 standard deviations), so that one word of random bits gives four elements.
/// Integers are drawn evenly from the whole range and are exact where `dtype` holds them.
[[nodiscard]] std::vector<std::byte> generate(const Generator& generator, Dtype dtype,
                                              std::size_t count, std::uint64_t seed);

/// Inverse of the standard normal distribution function, 0 < p < 1, to about 1e-9 (relative):
/// rational start (P. J. Acklam) and one step of Halley's method.
[[nodiscard]] double normal_quantile(double p);

}  // namespace evo
