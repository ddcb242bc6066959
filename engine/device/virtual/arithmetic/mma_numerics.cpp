#include "engine/device/virtual/arithmetic/mma_numerics.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "engine/device/virtual/arithmetic/alu_table.hpp"
#include "engine/device/virtual/arithmetic/small_floats.hpp"

#define EVO_SIMD simd_base
#include "engine/device/virtual/arithmetic/simd_mma.hpp"
#undef EVO_SIMD
#define EVO_SIMD simd_avx2
#include "engine/device/virtual/arithmetic/simd_mma.hpp"
#undef EVO_SIMD

namespace evo::ptx {
namespace {

bool is_wide() {
  static const bool wide = has_avx2();
  return wide;
}

}  // namespace

MmaNumerics mma_numerics(std::string_view arch) {
  MmaNumerics numerics;
  if (arch.starts_with("sm_9") || arch.starts_with("sm_1")) {
    // The tensor cores of Hopper add 16 products of f16 or bf16, or 8 of tf32, in one step, with 25
    // fraction bits.
    numerics.half = {.step = 16, .fraction_bits = 25, .result_bits = 23};
    numerics.tf32 = {.step = 8, .fraction_bits = 25, .result_bits = 23};
    numerics.fp8 = numerics.half;
    numerics.fp8_as_halves = true;
  } else if (arch != "sm_89") {
    numerics.has_fp8 = false;
  }
  return numerics;
}

void mma_tile(const DotRule& rule, int k, int min_exponent, bool half_result, const float* a,
              const float* b, const float* c, float* d) {
  auto* const tile = is_wide() ? simd_avx2::mma_tile : simd_base::mma_tile;
  tile(rule, k, min_exponent, half_result, a, b, c, d);
}

void widen_rows(const std::byte* from, Type type, int bytes_per_row, int rows, float* to,
                int stride) {
  auto* const widen = is_wide() ? simd_avx2::widen_rows : simd_base::widen_rows;
  widen(from, type, bytes_per_row, rows, to, stride);
}

void transpose_rows(const float* from, int k, float* to) {
  (is_wide() ? simd_avx2::transpose_rows : simd_base::transpose_rows)(from, k, to);
}

void unpacked_fp8_tile(const DotRule& rule, bool half_result, const float* a, const float* b,
                       const float* c, float* d) {
  constexpr std::size_t kDepth = 32;
  constexpr std::size_t kRows = 16;
  constexpr std::size_t kColumns = 8;
  constexpr int kLeastHalfExponent = -14;
  // Bytes 0 and 1 of a register are multiplied in the first step, bytes 2 and 3 in the second step.
  const auto place = [](std::size_t k) { return k % 4 / 2 * (kDepth / 2) + k / 4 * 2 + k % 2; };
  std::array<float, kRows * kDepth> left;
  std::array<float, kDepth * kColumns> right;
  for (std::size_t k = 0; k < kDepth; ++k) {
    for (std::size_t row = 0; row < kRows; ++row)
      left[row * kDepth + place(k)] = a[row * kDepth + k];
    for (std::size_t column = 0; column < kColumns; ++column)
      right[place(k) * kColumns + column] = b[k * kColumns + column];
  }
  const std::array<float, kRows* kColumns> zero = {};
  mma_tile(rule, static_cast<int>(kDepth), kLeastHalfExponent, half_result, left.data(),
           right.data(), zero.data(), d);
  // An f32 has more than twice the digits of an f16, so rounding this f32 sum of two f16 to f16
  // gives the correctly rounded result.
  for (std::size_t i = 0; i < kRows * kColumns; ++i) {
    const float sum = c[i] + d[i];
    d[i] = sum == sum ? sum : bits_float(0x7fffffffU);
  }
}

float dot_step_reference(const DotRule& rule, int count, int min_exponent, const float* a,
                         const float* b, float c) {
  constexpr int kZeroExponent = -10000;
  const auto exponent = [](double value, int least) {
    return value == 0 ? kZeroExponent : std::max(std::ilogb(value), least);
  };
  double plain = static_cast<double>(c);
  for (int i = 0; i < count; ++i) plain += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  if (!std::isfinite(plain)) {
    return std::isnan(plain) ? bits_float(0x7fffffffU) : static_cast<float>(plain);
  }
  int largest = exponent(static_cast<double>(c), -126);
  for (int i = 0; i < count; ++i) {
    const int ea = exponent(static_cast<double>(a[i]), min_exponent);
    const int eb = exponent(static_cast<double>(b[i]), min_exponent);
    if (ea != kZeroExponent && eb != kZeroExponent) largest = std::max(largest, ea + eb);
  }
  if (largest == kZeroExponent) return 0.0F;
  const auto cut = [&](double value) {
    return std::trunc(std::ldexp(value, rule.fraction_bits - largest));
  };
  double sum = cut(static_cast<double>(c));
  for (int i = 0; i < count; ++i) sum += cut(static_cast<double>(a[i]) * static_cast<double>(b[i]));
  sum = std::ldexp(sum, largest - rule.fraction_bits);
  if (sum == 0) return 0.0F;
  const int exponent_of_sum = std::max(std::ilogb(sum), -126);
  const double unit = std::ldexp(1.0, exponent_of_sum - rule.result_bits);
  return static_cast<float>(std::trunc(sum / unit) * unit);
}

}  // namespace evo::ptx
