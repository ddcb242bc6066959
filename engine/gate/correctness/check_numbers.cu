// Functions that compare outputs on a GPU, and give the same error statistics as compare.cpp on the
// host. Absolute errors and counts are bitwise equal to those of the host. Sums of squares, which
// determine relative errors, are added in another order, which is fixed for reproducible results.
//
// The last kernel of each check writes the result to a slot of kSlotWords 64-bit words, in which
// the host has set all bits to 1, and writes kDone to the slot's last word. check_slots.cpp names
// the words of a comparison's slot.

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

/// The encoding of a data type, packed by format_word() in device_work.cpp.
struct Format {
  u32 word;

  __device__ int bytes() const { return (int)(word & 15); }
  __device__ bool is_float() const { return (word >> 4 & 3) == 0; }
  __device__ bool is_signed() const { return (word >> 4 & 3) == 1; }
  __device__ bool has_infinity() const { return (word >> 6 & 1) != 0; }
  __device__ int exponent_bits() const { return (int)(word >> 8 & 255); }
  __device__ int mantissa_bits() const { return (int)(word >> 16); }
  /// True for 64-bit integers, which need exact subtraction because a double cannot represent all
  /// of them.
  __device__ bool is_wide_integer() const { return !is_float() && bytes() == 8; }
};

// 1. Conversion of elements to numbers.

/// Decodes a floating-point element of at most 16 bits; a double represents it exactly.
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

/// The bits of element `i` of `data`, whose elements have 1, 2, 4 or 8 bytes.
__device__ u64 bits_at(const void* data, u64 i, int size) {
  if (size == 1) return ((const u8*)data)[i];
  if (size == 2) return ((const u16*)data)[i];
  if (size == 4) return ((const u32*)data)[i];
  return ((const u64*)data)[i];
}

__device__ double number_of(u64 bits, Format format) {
  if (format.is_float()) {
    if (format.bytes() == 4) return (double)__uint_as_float((u32)bits);
    if (format.bytes() == 8) return __longlong_as_double((long long)bits);
    return small_float((u32)bits, format.exponent_bits(), format.mantissa_bits(),
                       format.has_infinity());
  }
  if (!format.is_signed()) return (double)bits;
  const int unused = 64 - 8 * format.bytes();
  return (double)((long long)(bits << unused) >> unused);
}

/// |a − b| of 64-bit integers, rounded to double; 0 only if `a` equals `b`.
__device__ double wide_distance(u64 a, u64 b, Format format) {
  const bool a_is_larger = format.is_signed() ? (long long)a > (long long)b : a > b;
  return (double)(a_is_larger ? a - b : b - a);
}

__device__ bool is_finite(double x) {
  return ((u64)__double_as_longlong(x) & 0x7ff0000000000000ULL) != 0x7ff0000000000000ULL;
}

__device__ bool is_nan(double x) { return x != x; }

// Expected outputs in device memory are masked, so that no kernel under test can find them. Each
// copy of an expected output is combined by XOR with a stream of random numbers that depends only
// on the copy's key. The generator is Philox4x32-10 (Salmon et al., "Parallel Random Numbers: As
// Easy as 1, 2, 3", 2011); its counter is the index of the sixteen bytes (Block).

/// Sixteen bytes of device memory or of a mask.
struct __align__(16) Block {
  u64 low;
  u64 high;
};
constexpr u64 kBlockBytes = sizeof(Block);

/// The mask of bytes 16·block to 16·block + 15.
__device__ Block mask_block(u64 key, u64 block) {
  u32 a = (u32)block;
  u32 b = (u32)(block >> 32);
  u32 c = 0;
  u32 d = 0;
  u32 key_low = (u32)key;
  u32 key_high = (u32)(key >> 32);
#pragma unroll
  for (int round = 0; round < 10; ++round) {
    const u64 first = (u64)a * 0xd2511f53u;
    const u64 second = (u64)c * 0xcd9e8d57u;
    a = (u32)(second >> 32) ^ b ^ key_low;
    b = (u32)second;
    c = (u32)(first >> 32) ^ d ^ key_high;
    d = (u32)first;
    key_low += 0x9e3779b9u;
    key_high += 0xbb67ae85u;
  }
  return {(u64)b << 32 | a, (u64)d << 32 | c};
}

/// The mask of bytes 8·word to 8·word + 7.
__device__ u64 mask_word(u64 key, u64 word) {
  const Block block = mask_block(key, word / 2);
  return word % 2 == 0 ? block.low : block.high;
}

__device__ Block operator^(const Block& a, const Block& b) {
  return {a.low ^ b.low, a.high ^ b.high};
}

/// The bits of element `k` of a block whose elements have kSize bytes.
template <int kSize>
__device__ u64 bits_in(const Block& block, int k) {
  constexpr int kPerWord = 8 / kSize;
  const u64 word = k < kPerWord ? block.low : block.high;
  if (kSize == 8) return word;
  return word >> (k % kPerWord * kSize * 8) & ((1ULL << (kSize * 8 % 64)) - 1);
}

/// Masked content in device memory, and the key of its mask.
struct Masked {
  const void* data;
  u64 key;
};

__device__ u64 bits_at(const Masked& masked, u64 i, int size) {
  const u64 byte = i * (u64)size;
  const u64 mask = mask_word(masked.key, byte / 8) >> (byte % 8 * 8);
  const u64 bits = bits_at(masked.data, i, size) ^ mask;
  return size == 8 ? bits : bits & ((1ULL << (size * 8)) - 1);
}

// 2. Sums of squares without overflow and underflow: large and small numbers are summed separately
//    and scaled (J. L. Blue, "A Portable Fortran Program to Find the Euclidean Norm of a Vector",
//    1978). For types of less than 8 bytes, only the sum of unscaled numbers (`middle`) is used.

constexpr int kFarExponent = 500;    // beyond 2^±500, sums of squares may overflow or underflow
constexpr int kScaleExponent = 600;  // large numbers are multiplied by 2^−600, small ones by 2^600

__device__ double power_of_two(int exponent) {
  return __longlong_as_double((long long)((u64)(exponent + 1023) << 52));
}

struct Squares {
  double small;
  double middle;
  double large;
};

/// Adds the square of a number from elements of kSize bytes.
template <int kSize>
__device__ void add_square(Squares& sum, double x) {
  if (kSize < 8) {
    sum.middle += x * x;
    return;
  }
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

/// The square root of `sum` / `count`.
__device__ double root_mean(const Squares& sum, double count) {
  const double up = power_of_two(kScaleExponent);
  const double down = power_of_two(-kScaleExponent);
  if (sum.large > 0) return sqrt((sum.large + sum.middle * down * down) / count) * up;
  // If sum.middle is above this limit, adding the scaled sum of the small numbers would not change
  // it.
  if (sum.middle > power_of_two(-2 * 400)) return sqrt(sum.middle / count);
  return sqrt((sum.middle * up * up + sum.small) / count) * down;
}

// 3. Error statistics of elements (struct Figures).

/// Statistics of a row, or of a segment of a long row. Those of a row give the largest error
/// relative to the root mean square of the row's expected elements.
struct Row {
  Squares reference;  // sum of squares of all finite expected elements
  u64 finite;
  double largest;
  u64 largest_at;
};

struct Figures {
  Squares error;
  Squares reference;  // sum over the elements with a finite error
  double largest;     // largest error
  u64 largest_at;     // index of the first element with the largest error
  double row_error;
  u64 row_at;
  u64 bad;
  u64 non_finite;
  u64 first_special;
};

// device_work.cpp contains the sizes of Row and Figures, too.
static_assert(sizeof(Row) == 48 && sizeof(Figures) == 104, "");

__device__ Row empty_row() { return {{0, 0, 0}, 0, 0, kNowhere}; }

__device__ Figures empty_figures() {
  return {{0, 0, 0}, {0, 0, 0}, 0, kNowhere, 0, kNowhere, 0, 0, kNowhere};
}

__device__ void take_larger(double& largest, u64& at, double other, u64 other_at) {
  if (other > largest || (other == largest && other_at < at)) {
    largest = other;
    at = other_at;
  }
}

__device__ void add(Row& to, const Row& from) {
  add(to.reference, from.reference);
  to.finite += from.finite;
  take_larger(to.largest, to.largest_at, from.largest, from.largest_at);
}

__device__ void add(Figures& to, const Figures& from) {
  add(to.error, from.error);
  add(to.reference, from.reference);
  take_larger(to.largest, to.largest_at, from.largest, from.largest_at);
  take_larger(to.row_error, to.row_at, from.row_error, from.row_at);
  to.bad += from.bad;
  to.non_finite += from.non_finite;
  if (from.first_special < to.first_special) to.first_special = from.first_special;
}

/// Adds the relative error of a whole row, which is infinite if all its expected elements are 0.
__device__ void finish_row(Figures& figures, const Row& row) {
  if (row.largest == 0) return;
  const double relative = row.largest / root_mean(row.reference, (double)row.finite);
  take_larger(figures.row_error, figures.row_at, relative, row.largest_at);
}
