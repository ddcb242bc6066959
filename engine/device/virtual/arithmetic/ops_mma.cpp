#include "engine/device/virtual/arithmetic/mma_numerics.hpp"
#include "engine/device/virtual/arithmetic/simd_mma.hpp"
#include "engine/device/virtual/arithmetic/simd_prelude.hpp"
// clang-format off
#include "engine/device/virtual/arithmetic/simd_target.hpp"
// clang-format on

// Computes tiles of matrix products, eight columns at a time, and widens 8-bit and 16-bit elements
// to the floats of a tile. A step is a group of products that tensor cores add at once (DotRule).
// Each product is a float that is exact as far as the step keeps it. The products and the
// accumulator are aligned to the largest exponent of their step, at least kLeastExponent, by
// scaling them with a power of two and truncating them to integers.

namespace evo::ptx::EVO_SIMD {
namespace {

constexpr int kRows = 16;
constexpr int kColumns = 8;
constexpr int kMaxDepth = 32;
constexpr std::int32_t kZeroExponent = -1000;
/// Smallest exponent to which terms are aligned: for smaller exponents, the scaling factor would
/// not fit a float.
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

/// Rounds doubles toward zero to f32 and keeps only the bits of `mask`.
EVO_INLINE Floats truncate_results(Doubles value, std::int32_t mask) {
  const Floats nearest = __builtin_convertvector(value, Floats);
  const Doubles back = __builtin_convertvector(nearest, Doubles);
  const Longs clear_sign = Longs{} + 0x7fffffffffffffffLL;
  const Longs too_large = reinterpret_cast<Doubles>(reinterpret_cast<Longs>(back) & clear_sign) >
                          reinterpret_cast<Doubles>(reinterpret_cast<Longs>(value) & clear_sign);
  // A true comparison of vector elements gives −1, so adding it decrements a result that was
  // rounded up.
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

/// The exponent to which the terms of one step are aligned, for one row and eight columns: the
/// largest exponent of the terms, or kLeastExponent if this is larger.
EVO_INLINE Ints aligning_exponent(const Tile& tile, int row, int from, int count, Floats acc) {
  const std::int32_t* exponent_a = tile.exponent_a + row * tile.k;
  Ints largest = exponents_of(acc);
  for (int i = from; i < from + count; ++i) {
    const Ints e = tile.exponent_b[i] + exponent_a[i];
    largest = e > largest ? e : largest;
  }
  return largest < kLeastExponent ? Ints{} + kLeastExponent : largest;
}

/// 2^exponent, for exponents from −126 to 127.
EVO_INLINE Floats power_of_two(Ints exponent) {
  return reinterpret_cast<Floats>((exponent + 127) << 23);
}

/// Computes one step for one row and eight columns: returns acc + a[row][from … from + count) · b.
/// Truncates each term `fraction_bits` bits below the largest exponent. `mask`: the bits of the
/// result that are kept.
EVO_INLINE Floats step_row(const Tile& tile, int row, int from, int count, int fraction_bits,
                           std::int32_t mask, Floats acc) {
  const float* a = tile.a + row * tile.k;
  const Ints largest = aligning_exponent(tile, row, from, count, acc);
  const Floats scale = power_of_two(fraction_bits - largest);
  // The sum of sixteen products and the accumulator may need 33 bits, so each half is summed
  // separately in 32 bits.
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

/// True if the sum of a step, whose products are below 2^(fraction_bits + 2), is below 2^bits.
EVO_INLINE bool sums_below(int bits, int count, int fraction_bits) {
  return (std::int64_t{4 * count + 2} << fraction_bits) < (std::int64_t{1} << bits);
}

/// Like step_row(), but faster and only for sums below 2^31.
EVO_INLINE Floats narrow_step_row(const Tile& tile, int row, int from, int count, int fraction_bits,
                                  std::int32_t mask, Floats acc) {
  const float* a = tile.a + row * tile.k;
  const Ints largest = aligning_exponent(tile, row, from, count, acc);
  const Floats scale = power_of_two(fraction_bits - largest);
  Ints sum = __builtin_convertvector(acc * scale, Ints);
  for (int i = from; i < from + count; ++i)
    sum += __builtin_convertvector(a[i] * tile.b[i] * scale, Ints);
  // Rounds toward zero; overflow gives the largest finite value. A true comparison of vector
  // elements gives −1, so adding it decrements a result that was rounded up.
  const Floats nearest = __builtin_convertvector(sum, Floats);
  const Ints back = __builtin_convertvector(nearest, Ints);
  const Ints too_large = (back < 0 ? -back : back) > (sum < 0 ? -sum : sum);
  const Floats cut = reinterpret_cast<Floats>(reinterpret_cast<Ints>(nearest) + too_large);
  const Ints bits = reinterpret_cast<Ints>(cut * power_of_two(largest - fraction_bits));
  const Ints infinite = (bits & 0x7fffffff) == 0x7f800000;
  return reinterpret_cast<Floats>((bits + infinite) & mask);
}

bool all_finite(const float* values, int count) {
  std::uint32_t worst = 0;
  for (int i = 0; i < count; ++i) {
    const std::uint32_t magnitude = float_bits(values[i]) & 0x7fffffffU;
    worst = magnitude > worst ? magnitude : worst;
  }
  return worst < 0x7f800000U;
}

/// Like step_row(), for tiles with infinities, NaN, or products that may not fit a float; computes
/// one element after the other.
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

/// Calls `one(row, from, acc)` for each step of each row, where `from` is the index of the step's
/// first product and `acc` the accumulator.
template <typename Step>
EVO_INLINE void for_steps(const float* c, float* d, int k, int step, bool half_result, Step&& one) {
  for (int row = 0; row < kRows; ++row) {
    Floats acc;
    __builtin_memcpy(&acc, c + row * kColumns, sizeof acc);
    for (int from = 0; from < k; from += step) {
      acc = one(row, from, acc);
      for (int n = 0; half_result && n < kColumns; ++n)
        acc[n] = half_to_float(float_to_half(acc[n]));
    }
    __builtin_memcpy(d + row * kColumns, &acc, sizeof acc);
  }
}

std::int32_t largest_of(const std::int32_t* values, int count) {
  std::int32_t largest = kZeroExponent;
  for (int i = 0; i < count; ++i) largest = values[i] > largest ? values[i] : largest;
  return largest;
}

}  // namespace

void mma_tile(const DotRule& rule, int k, int min_exponent, bool half_result, const float* a,
              const float* b, const float* c, float* d) {
  std::int32_t exponent_a[kRows * kMaxDepth];
  alignas(32) std::int32_t exponent_b[kMaxDepth * kColumns];
  Floats columns[kMaxDepth];
  for (int i = 0; i < kRows * k; ++i) exponent_a[i] = exponent_of(a[i], min_exponent);
  for (int i = 0; i < k * kColumns; ++i) exponent_b[i] = exponent_of(b[i], min_exponent);
  __builtin_memcpy(columns, b, sizeof(Floats) * static_cast<std::size_t>(k));
  const Tile tile{a, columns, exponent_a, reinterpret_cast<const Ints*>(exponent_b), k};
  const auto mask = static_cast<std::int32_t>(~((1U << (23 - rule.result_bits)) - 1));
  const bool finite =
      all_finite(a, kRows * k) && all_finite(b, kColumns * k) && all_finite(c, kRows * kColumns);
  // A product is below 2^(2 + the sum of the exponents of its factors), and a float below 2^128.
  const bool fits = largest_of(exponent_a, kRows * k) + largest_of(exponent_b, kColumns * k) <= 126;
  const int step = rule.step < k ? rule.step : k;
  const int bits = rule.fraction_bits;
  if (!finite || !fits) {
    for_steps(c, d, k, step, half_result, [&](int row, int from, Floats acc) {
      return step_row_special(rule, min_exponent, tile, row, from, step, acc);
    });
    return;
  }
  const bool is_narrow = sums_below(31, step, bits);
  const auto narrow_steps = [&](auto count) {
    for_steps(c, d, k, count, half_result, [&](int row, int from, Floats acc) {
      return narrow_step_row(tile, row, from, count, bits, mask, acc);
    });
  };
  if (is_narrow && step == 8) return narrow_steps(std::integral_constant<int, 8>());
  if (is_narrow && step == 16) return narrow_steps(std::integral_constant<int, 16>());
  if (is_narrow && step == 32) return narrow_steps(std::integral_constant<int, 32>());
  if (is_narrow && step == 4) return narrow_steps(std::integral_constant<int, 4>());
  for_steps(c, d, k, step, half_result, [&](int row, int from, Floats acc) {
    return step_row(tile, row, from, step, bits, mask, acc);
  });
}

namespace {

using Halves = std::uint16_t __attribute__((vector_size(16)));
using WideHalves = std::uint16_t __attribute__((vector_size(32)));
using Words = std::uint32_t __attribute__((vector_size(32)));
using Bytes = std::uint8_t __attribute__((vector_size(16)));
constexpr int kPieceBytes = 16;  ///< bytes widened at a time

/// Widens eight f16 elements. The F16C instructions convert subnormals at no extra cost.
EVO_INLINE Floats widen_halves(Halves halves) {
#if defined(EVO_SIMD_AVX2) && !defined(__clang__)  // clang ignores the pragma of simd_target.hpp
  return reinterpret_cast<Floats>(__builtin_ia32_vcvtph2ps256(
      reinterpret_cast<short __attribute__((vector_size(16)))>(halves)));
#else
  Floats values;
  for (int i = 0; i < kColumns; ++i) values[i] = half_to_float(halves[i]);
  return values;
#endif
}

EVO_INLINE Halves load_halves(const std::byte* from) {
  Halves halves;
  __builtin_memcpy(&halves, from, sizeof halves);
  return halves;
}

EVO_INLINE Bytes load_bytes(const std::byte* from) {
  Bytes bytes;
  __builtin_memcpy(&bytes, from, sizeof bytes);
  return bytes;
}

EVO_INLINE void store_floats(float* to, Floats values) {
  __builtin_memcpy(to, &values, sizeof values);
}

EVO_INLINE void store_halves(float* to, const WideHalves& halves) {
  Halves part[2];
  __builtin_memcpy(part, &halves, sizeof part);
  store_floats(to, widen_halves(part[0]));
  store_floats(to + kColumns, widen_halves(part[1]));
}

/// Widens e4m3 to f32: the bits of an e4m3 value, shifted and read as f16, are 2^-8 times the
/// value. NaN is handled separately.
struct WidenE4m3 {
  EVO_INLINE static void widen(const std::byte* from, float* to) {
    const WideHalves bits = __builtin_convertvector(load_bytes(from), WideHalves);
    const WideHalves magnitude = bits & 0x7f;
    const auto is_nan = reinterpret_cast<WideHalves>(magnitude == 0x7f);
    const WideHalves halves = ((bits & 0x80) << 8) | (magnitude << 7) | (is_nan & 0x7fff);
    Halves part[2];
    __builtin_memcpy(part, &halves, sizeof part);
    store_floats(to, widen_halves(part[0]) * 0x1p8F);
    store_floats(to + kColumns, widen_halves(part[1]) * 0x1p8F);
  }
};
struct WidenE5m2 {
  EVO_INLINE static void widen(const std::byte* from, float* to) {
    store_halves(to, __builtin_convertvector(load_bytes(from), WideHalves) << 8);
  }
};
struct WidenF16 {
  EVO_INLINE static void widen(const std::byte* from, float* to) {
    store_floats(to, widen_halves(load_halves(from)));
  }
};
struct WidenBf16 {
  EVO_INLINE static void widen(const std::byte* from, float* to) {
    const Words words = __builtin_convertvector(load_halves(from), Words) << 16;
    store_floats(to, reinterpret_cast<Floats>(words));
  }
};

/// Transposes eight rows of eight floats; consecutive rows in `from` are `stride` floats apart.
EVO_INLINE void transpose_eight(const float* from, int stride, float* to) {
  Floats row[8];
  for (int i = 0; i < 8; ++i) __builtin_memcpy(&row[i], from + i * stride, sizeof row[i]);
  Floats pair[8];
  for (int i = 0; i < 8; i += 2) {
    pair[i] = __builtin_shufflevector(row[i], row[i + 1], 0, 8, 1, 9, 4, 12, 5, 13);
    pair[i + 1] = __builtin_shufflevector(row[i], row[i + 1], 2, 10, 3, 11, 6, 14, 7, 15);
  }
  Floats four[8];
  for (int i = 0; i < 8; i += 4) {
    for (int j = 0; j < 2; ++j) {
      four[i + 2 * j] =
          __builtin_shufflevector(pair[i + j], pair[i + 2 + j], 0, 1, 8, 9, 4, 5, 12, 13);
      four[i + 2 * j + 1] =
          __builtin_shufflevector(pair[i + j], pair[i + 2 + j], 2, 3, 10, 11, 6, 7, 14, 15);
    }
  }
  for (int i = 0; i < 4; ++i) {
    const Floats low = __builtin_shufflevector(four[i], four[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    const Floats high = __builtin_shufflevector(four[i], four[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
    __builtin_memcpy(to + i * kColumns, &low, sizeof low);
    __builtin_memcpy(to + (i + 4) * kColumns, &high, sizeof high);
  }
}

}  // namespace

void transpose_rows(const float* from, int k, float* to) {
  for (int at = 0; at < k; at += 8) transpose_eight(from + at, k, to + at * kColumns);
}

void widen_rows(const std::byte* from, Type type, int bytes_per_row, int rows, float* to,
                int stride) {
  const auto all = [&](auto format, int floats) {
    for (int row = 0; row < rows; ++row) {
      float* next = to + std::ptrdiff_t{row} * stride;
      for (int at = 0; at < bytes_per_row; at += kPieceBytes) {
        format.widen(from, next);
        from += kPieceBytes;
        next += floats;
      }
    }
  };
  if (type == Type::kE4m3) return all(WidenE4m3(), kPieceBytes);
  if (type == Type::kE5m2) return all(WidenE5m2(), kPieceBytes);
  if (type == Type::kF16) return all(WidenF16(), kPieceBytes / 2);
  all(WidenBf16(), kPieceBytes / 2);
}

}  // namespace evo::ptx::EVO_SIMD
