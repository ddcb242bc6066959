#include "engine/device/virtual/arithmetic/mma_numerics.hpp"
#include "engine/device/virtual/arithmetic/simd_prelude.hpp"
// clang-format off
#include "engine/device/virtual/arithmetic/simd_target.hpp"
// clang-format on

// The arithmetic of one mma.sync tile. Eight columns at a time: exponents as integers, products as
// exact floats scaled so that cutting to an integer is the alignment.

namespace evo::ptx::EVO_SIMD {
namespace {

constexpr int kRows = 16;
constexpr int kColumns = 8;
constexpr int kMaxDepth = 32;
constexpr std::int32_t kZeroExponent = -1000;
/// Below this exponent alignment stops following the largest term, so that the scale is a float.
constexpr std::int32_t kLeastExponent = -98;

using Floats = float __attribute__((vector_size(32)));
using Ints = std::int32_t __attribute__((vector_size(32)));
using Doubles = double __attribute__((vector_size(64)));
using Longs = std::int64_t __attribute__((vector_size(64)));

EVO_INLINE std::int32_t exponent_of(float value, std::int32_t least) {
  const std::uint32_t magnitude = float_bits(value) & 0x7fffffffU;
  const std::int32_t exponent = static_cast<std::int32_t>(magnitude >> 23) - 127;
  const std::int32_t bounded = exponent < least ? least : exponent;
  return magnitude == 0 ? kZeroExponent : bounded;
}

EVO_INLINE Ints exponents_of(Floats values) {
  const Ints magnitude = reinterpret_cast<Ints>(values) & 0x7fffffff;
  const Ints exponent = (magnitude >> 23) - 127;
  const Ints bounded = exponent < -126 ? Ints{} - 126 : exponent;
  return magnitude == 0 ? Ints{} + kZeroExponent : bounded;
}

/// Round toward zero to f32 and keep the bits of `mask`.
EVO_INLINE Floats truncate_results(Doubles value, std::int32_t mask) {
  const Floats nearest = __builtin_convertvector(value, Floats);
  const Doubles back = __builtin_convertvector(nearest, Doubles);
  const Longs clear_sign = Longs{} + 0x7fffffffffffffffLL;
  const Longs too_large = reinterpret_cast<Doubles>(reinterpret_cast<Longs>(back) & clear_sign) >
                          reinterpret_cast<Doubles>(reinterpret_cast<Longs>(value) & clear_sign);
  // The comparison gives −1 where it holds.
  const Ints bits = reinterpret_cast<Ints>(nearest) + __builtin_convertvector(too_large, Ints);
  return reinterpret_cast<Floats>(bits & mask);
}

struct Tile {
  const float* a;
  const Floats* b;
  const std::int32_t* exponent_a;
  const Ints* exponent_b;
  int k;
};

/// One step of one row: acc[8] += a[row][from … from + count) · b.
EVO_INLINE Floats step_row(const Tile& tile, int row, int from, int count, int fraction_bits,
                           std::int32_t mask, Floats acc) {
  const float* a = tile.a + row * tile.k;
  const std::int32_t* exponent_a = tile.exponent_a + row * tile.k;
  Ints largest = exponents_of(acc);
  for (int i = from; i < from + count; ++i) {
    const Ints e = tile.exponent_b[i] + exponent_a[i];
    largest = e > largest ? e : largest;
  }
  largest = largest < kLeastExponent ? Ints{} + kLeastExponent : largest;
  const Floats scale = reinterpret_cast<Floats>((fraction_bits - largest + 127) << 23);
  // Sixteen products and the accumulator may need 33 bits: two sums.
  const int half = count > 8 ? count / 2 : count;
  Ints low = __builtin_convertvector(acc * scale, Ints);
  Ints high = {};
  for (int i = from; i < from + half; ++i)
    low += __builtin_convertvector(a[i] * tile.b[i] * scale, Ints);
  for (int i = from + half; i < from + count; ++i)
    high += __builtin_convertvector(a[i] * tile.b[i] * scale, Ints);
  const Doubles sum =
      __builtin_convertvector(low, Doubles) + __builtin_convertvector(high, Doubles);
  return truncate_results(sum / __builtin_convertvector(scale, Doubles), mask);
}

bool all_finite(const float* values, int count) {
  std::uint32_t worst = 0;
  for (int i = 0; i < count; ++i) {
    const std::uint32_t magnitude = float_bits(values[i]) & 0x7fffffffU;
    worst = magnitude > worst ? magnitude : worst;
  }
  return worst < 0x7f800000U;
}

/// Tiles with infinities or NaN: element by element.
Floats step_row_special(const DotRule& rule, int min_exponent, const Tile& tile, int row, int from,
                        int count, Floats acc) {
  for (int n = 0; n < kColumns; ++n) {
    float column[kMaxDepth];
    for (int i = 0; i < count; ++i) column[i] = tile.b[from + i][n];
    acc[n] =
        dot_step_reference(rule, count, min_exponent, tile.a + row * tile.k + from, column, acc[n]);
  }
  return acc;
}

}  // namespace

void mma_tile(const DotRule& rule, int k, int min_exponent, bool half_result, const float* a,
              const float* b, const float* c, float* d) {
  std::int32_t exponent_a[kRows * kMaxDepth];
  Floats columns[kMaxDepth];
  Ints exponent_b[kMaxDepth];
  for (int i = 0; i < kRows * k; ++i) exponent_a[i] = exponent_of(a[i], min_exponent);
  for (int i = 0; i < k; ++i) {
    for (int n = 0; n < kColumns; ++n) {
      columns[i][n] = b[i * kColumns + n];
      exponent_b[i][n] = exponent_of(b[i * kColumns + n], min_exponent);
    }
  }
  const Tile tile{a, columns, exponent_a, exponent_b, k};
  const auto mask = static_cast<std::int32_t>(~((1U << (23 - rule.result_bits)) - 1));
  const bool finite =
      all_finite(a, kRows * k) && all_finite(b, kColumns * k) && all_finite(c, kRows * kColumns);
  const int step = rule.step < k ? rule.step : k;
  for (int row = 0; row < kRows; ++row) {
    Floats acc;
    for (int n = 0; n < kColumns; ++n) acc[n] = c[row * kColumns + n];
    for (int from = 0; from < k; from += step) {
      acc = finite ? step_row(tile, row, from, step, rule.fraction_bits, mask, acc)
                   : step_row_special(rule, min_exponent, tile, row, from, step, acc);
      for (int n = 0; half_result && n < kColumns; ++n)
        acc[n] = half_to_float(float_to_half(acc[n]));
    }
    for (int n = 0; n < kColumns; ++n) d[row * kColumns + n] = acc[n];
  }
}

}  // namespace evo::ptx::EVO_SIMD
