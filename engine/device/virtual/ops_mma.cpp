#include "engine/device/virtual/mma_numerics.hpp"
#include "engine/device/virtual/simd_prelude.hpp"
// clang-format off
#include "engine/device/virtual/simd_target.hpp"
// clang-format on

// The arithmetic of one mma.sync tile. Eight columns at a time: exponents as integers, products as
// exact floats scaled so that cutting to an integer is the alignment.

namespace evo::ptx::EVO_SIMD {
namespace {

constexpr int kRows = 16;
constexpr int kColumns = 8;
constexpr int kMaxDepth = 32;
constexpr std::int32_t kZeroExponent = -1000;
/// Below this exponent alignment stops following the largest term, so that scaling stays finite.
constexpr std::int32_t kLeastExponent = -98;

EVO_INLINE std::int32_t exponent_of(float value, std::int32_t least) {
  const std::uint32_t magnitude = float_bits(value) & 0x7fffffffU;
  const std::int32_t exponent = static_cast<std::int32_t>(magnitude >> 23) - 127;
  const std::int32_t bounded = exponent < least ? least : exponent;
  return magnitude == 0 ? kZeroExponent : bounded;
}

EVO_INLINE float power_of_two(std::int32_t exponent) {
  return bits_float(static_cast<std::uint32_t>(exponent + 127) << 23);
}

/// Round toward zero to f32 and keep `result_bits` of the fraction.
EVO_INLINE float truncate_result(double value, std::uint32_t mask) {
  const auto nearest = static_cast<float>(value);
  const double back = static_cast<double>(nearest);
  const double size = value < 0 ? -value : value;
  const double rounded = back < 0 ? -back : back;
  std::uint32_t bits = float_bits(nearest);
  bits -= rounded > size ? 1U : 0U;
  return bits_float(bits & mask);
}

struct Tile {
  const float* a;
  const float* b;
  const std::int32_t* exponent_a;
  const std::int32_t* exponent_b;
  int k;
};

/// One step of one row: acc[8] += a[row][from … from + count) · b.
EVO_INLINE void step_row(const Tile& tile, int row, int from, int count, int fraction_bits,
                         std::uint32_t mask, float* acc) {
  alignas(32) std::int32_t largest[kColumns];
  for (int n = 0; n < kColumns; ++n) largest[n] = exponent_of(acc[n], -126);
  for (int i = from; i < from + count; ++i) {
    const std::int32_t ea = tile.exponent_a[row * tile.k + i];
    const std::int32_t* eb = tile.exponent_b + i * kColumns;
    for (int n = 0; n < kColumns; ++n) {
      const std::int32_t e = ea + eb[n];
      largest[n] = e > largest[n] ? e : largest[n];
    }
  }
  // 2^(fraction − largest) in two factors, since it may exceed what one float holds.
  alignas(32) float scale[kColumns];
  alignas(32) float scale2[kColumns];
  for (int n = 0; n < kColumns; ++n) {
    largest[n] = largest[n] < kLeastExponent ? kLeastExponent : largest[n];
    const std::int32_t shift = fraction_bits - largest[n];
    scale[n] = power_of_two(shift > 100 ? 100 : shift);
    scale2[n] = power_of_two(shift > 100 ? shift - 100 : 0);
  }
  alignas(32) std::int32_t low[kColumns];
  alignas(32) std::int32_t high[kColumns];
  for (int n = 0; n < kColumns; ++n) {
    low[n] = static_cast<std::int32_t>(acc[n] * scale[n] * scale2[n]);
    high[n] = 0;
  }
  const int half = count > 8 ? count / 2 : count;
  for (int i = from; i < from + half; ++i) {
    const float x = tile.a[row * tile.k + i];
    const float* y = tile.b + i * kColumns;
    for (int n = 0; n < kColumns; ++n) low[n] += static_cast<std::int32_t>(x * y[n] * scale[n] * scale2[n]);
  }
  for (int i = from + half; i < from + count; ++i) {
    const float x = tile.a[row * tile.k + i];
    const float* y = tile.b + i * kColumns;
    for (int n = 0; n < kColumns; ++n) high[n] += static_cast<std::int32_t>(x * y[n] * scale[n] * scale2[n]);
  }
  for (int n = 0; n < kColumns; ++n) {
    const double sum = static_cast<double>(low[n]) + static_cast<double>(high[n]);
    const double unit = 1.0 / (static_cast<double>(scale[n]) * static_cast<double>(scale2[n]));
    acc[n] = truncate_result(sum * unit, mask);
  }
}

bool all_finite(const float* values, int count) {
  std::uint32_t worst = 0;
  for (int i = 0; i < count; ++i) {
    const std::uint32_t magnitude = float_bits(values[i]) & 0x7fffffffU;
    worst = magnitude > worst ? magnitude : worst;
  }
  return worst < 0x7f800000U;
}

/// Infinities and NaN follow ordinary arithmetic; finite elements of the tile keep the rule.
void step_row_special(const DotRule& rule, int min_exponent, const Tile& tile, int row, int from,
                      int count, float* acc) {
  for (int n = 0; n < kColumns; ++n) {
    float column[kMaxDepth];
    for (int i = 0; i < count; ++i) column[i] = tile.b[(from + i) * kColumns + n];
    acc[n] = dot_step_reference(rule, count, min_exponent, tile.a + row * tile.k + from, column, acc[n]);
  }
}

}  // namespace

void mma_tile(const DotRule& rule, int k, int min_exponent, bool half_result, const float* a,
              const float* b, const float* c, float* d) {
  alignas(32) std::int32_t exponent_a[kRows * kMaxDepth];
  alignas(32) std::int32_t exponent_b[kMaxDepth * kColumns];
  for (int i = 0; i < kRows * k; ++i) exponent_a[i] = exponent_of(a[i], min_exponent);
  for (int i = 0; i < kColumns * k; ++i) exponent_b[i] = exponent_of(b[i], min_exponent);
  const Tile tile{a, b, exponent_a, exponent_b, k};
  const std::uint32_t mask = ~((1U << (23 - rule.result_bits)) - 1);
  const bool finite = all_finite(a, kRows * k) && all_finite(b, kColumns * k) && all_finite(c, kRows * kColumns);
  const int step = rule.step < k ? rule.step : k;
  for (int row = 0; row < kRows; ++row) {
    alignas(32) float acc[kColumns];
    for (int n = 0; n < kColumns; ++n) acc[n] = c[row * kColumns + n];
    for (int from = 0; from < k; from += step) {
      if (finite) {
        step_row(tile, row, from, step, rule.fraction_bits, mask, acc);
      } else {
        step_row_special(rule, min_exponent, tile, row, from, step, acc);
      }
      if (half_result) {
        for (int n = 0; n < kColumns; ++n) acc[n] = half_to_float(float_to_half(acc[n]));
      }
    }
    for (int n = 0; n < kColumns; ++n) d[row * kColumns + n] = acc[n];
  }
}

}  // namespace evo::ptx::EVO_SIMD
