// What judges outputs on a device that measures: the same figures as compare.cpp computes on the
// host. Errors, counts, indices and maxima are equal to the last bit; sums of squares are added in
// another order, which is fixed, so that the same data give the same bits again.
//
// Every kernel leaves its result in a slot of kSlotWords words, which the host has filled with ones,
// and writes kDone into the last word. check_slots.hpp names the words.

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

constexpr int kSlotWords = 32;
constexpr int kFingerprint = kSlotWords - 2;
constexpr u64 kDone = 1;
constexpr int kThreads = 256;
constexpr int kLanes = 32;
constexpr u64 kNowhere = ~0ULL;

// The order of evo::Dtype.
enum Dtype { kE4m3, kE5m2, kF16, kBf16, kF32, kF64, kI8, kU8, kI16, kU16, kI32, kU32, kI64, kU64 };

// 1. Elements as numbers.

/// A format of at most 16 bits. Exact: a double holds all of them.
__device__ double small_float(u32 bits, int exponent_bits, int mantissa_bits, bool has_infinity) {
  const u32 sign_bit = 1u << (exponent_bits + mantissa_bits);
  const u32 magnitude = bits & (sign_bit - 1);
  const u32 infinity = ((1u << exponent_bits) - 1) << mantissa_bits;
  const u64 sign = (bits & sign_bit) != 0 ? 1ULL << 63 : 0;
  constexpr u64 kInfinity = 0x7ff0000000000000ULL;
  constexpr u64 kNan = 0x7ff8000000000000ULL;
  if (has_infinity && magnitude >= infinity) {
    return __longlong_as_double((long long)(magnitude == infinity ? sign | kInfinity : kNan));
  }
  if (!has_infinity && magnitude == sign_bit - 1) return __longlong_as_double((long long)kNan);
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const u32 exponent = magnitude >> mantissa_bits;
  const u32 mantissa = magnitude & ((1u << mantissa_bits) - 1);
  if (exponent == 0) {
    const u64 unit = (u64)(1 - bias - mantissa_bits + 1023) << 52;
    const double value = (double)mantissa * __longlong_as_double((long long)unit);
    return sign != 0 ? -value : value;
  }
  return __longlong_as_double((long long)(sign | (u64)((int)exponent - bias + 1023) << 52 |
                                          (u64)mantissa << (52 - mantissa_bits)));
}

__device__ double value_at(const void* data, u64 i, int dtype) {
  switch (dtype) {
    case kE4m3:
      return small_float(((const u8*)data)[i], 4, 3, false);
    case kE5m2:
      return small_float(((const u8*)data)[i], 5, 2, true);
    case kF16:
      return small_float(((const u16*)data)[i], 5, 10, true);
    case kBf16:
      return small_float(((const u16*)data)[i], 8, 7, true);
    case kF32:
      return (double)((const float*)data)[i];
    case kF64:
      return ((const double*)data)[i];
    case kI8:
      return (double)((const signed char*)data)[i];
    case kU8:
      return (double)((const u8*)data)[i];
    case kI16:
      return (double)((const short*)data)[i];
    case kU16:
      return (double)((const u16*)data)[i];
    case kI32:
      return (double)((const int*)data)[i];
    case kU32:
      return (double)((const u32*)data)[i];
    case kI64:
      return (double)((const long long*)data)[i];
    default:
      return (double)((const u64*)data)[i];
  }
}

/// |a − b| of 64-bit integers: rounded to double, but 0 only when they are equal.
__device__ double wide_distance(const void* output, const void* expected, u64 i, int dtype) {
  const u64 a = ((const u64*)output)[i];
  const u64 b = ((const u64*)expected)[i];
  const bool a_is_larger = dtype == kI64 ? (long long)a > (long long)b : a > b;
  return (double)(a_is_larger ? a - b : b - a);
}

__device__ bool is_finite(double x) {
  return ((u64)__double_as_longlong(x) & 0x7ff0000000000000ULL) != 0x7ff0000000000000ULL;
}

__device__ bool is_nan(double x) { return x != x; }

/// One element of any size as bits.
__device__ u64 bits_at(const void* data, u64 i, int size) {
  if (size == 1) return ((const u8*)data)[i];
  if (size == 2) return ((const u16*)data)[i];
  if (size == 4) return ((const u32*)data)[i];
  return ((const u64*)data)[i];
}

// 2. Sums of squares that neither overflow nor vanish: of large and of small numbers they are kept
// apart, scaled (J. L. Blue, "A Portable Fortran Program to Find the Euclidean Norm of a Vector",
// 1978). Types shorter than f64 only ever use the middle one.

constexpr int kFarExponent = 500;    // beyond 2^±500 a square is no ordinary double
constexpr int kScaleExponent = 600;  // large numbers times 2^−600, small ones times 2^600

__device__ double power_of_two(int exponent) {
  return __longlong_as_double((long long)((u64)(exponent + 1023) << 52));
}

struct Squares {
  double small;
  double middle;
  double large;
};

__device__ void add_square(Squares& sum, double x) {
  const u64 bits = (u64)__double_as_longlong(x) << 1;
  if (bits == 0) return;
  const int exponent = (int)(bits >> 53) - 1023;
  if (exponent > kFarExponent) {
    const double scaled = x * power_of_two(-kScaleExponent);
    sum.large += scaled * scaled;
  } else if (exponent < -kFarExponent) {
    const double scaled = x * power_of_two(kScaleExponent);
    sum.small += scaled * scaled;
  } else {
    sum.middle += x * x;
  }
}

__device__ void add(Squares& to, const Squares& from) {
  to.small += from.small;
  to.middle += from.middle;
  to.large += from.large;
}

/// Root of the sum divided by `count`.
__device__ double root_mean(const Squares& sum, double count) {
  const double up = power_of_two(kScaleExponent);
  const double down = power_of_two(-kScaleExponent);
  if (sum.large > 0) return sqrt((sum.large + sum.middle * down * down) / count) * up;
  // Above this the small ones are below the last bit of the middle ones.
  if (sum.middle > power_of_two(-2 * 400)) return sqrt(sum.middle / count);
  return sqrt((sum.middle * up * up + sum.small) / count) * down;
}
