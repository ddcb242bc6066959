#include "engine/problem/dtype.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "engine/core/error.hpp"

namespace evo {
namespace {

struct DtypeName {
  Dtype dtype;
  std::string_view name;
  std::size_t bytes;
};

constexpr std::array<DtypeName, 14> kNames = {{
    {Dtype::kE4m3, "e4m3", 1},
    {Dtype::kE5m2, "e5m2", 1},
    {Dtype::kF16, "f16", 2},
    {Dtype::kBf16, "bf16", 2},
    {Dtype::kF32, "f32", 4},
    {Dtype::kF64, "f64", 8},
    {Dtype::kI8, "i8", 1},
    {Dtype::kU8, "u8", 1},
    {Dtype::kI16, "i16", 2},
    {Dtype::kU16, "u16", 2},
    {Dtype::kI32, "i32", 4},
    {Dtype::kU32, "u32", 4},
    {Dtype::kI64, "i64", 8},
    {Dtype::kU64, "u64", 8},
}};

/// A binary floating-point format of at most 16 bits.
struct SmallFloat {
  int exponent_bits;
  int mantissa_bits;
  bool has_infinity;  ///< false: the top exponent holds numbers too, only all ones is NaN (e4m3)
  bool saturates;     ///< conversion of a finite number never gives infinity

  [[nodiscard]] int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  [[nodiscard]] std::uint32_t sign_bit() const { return 1U << (exponent_bits + mantissa_bits); }
  [[nodiscard]] std::uint32_t nan() const { return sign_bit() - 1; }
  [[nodiscard]] std::uint32_t infinity() const {
    return ((1U << exponent_bits) - 1) << mantissa_bits;
  }
  [[nodiscard]] std::uint32_t largest_finite() const {
    return has_infinity ? infinity() - 1 : nan() - 1;
  }
};

constexpr SmallFloat kE4m3 = {4, 3, false, true};
constexpr SmallFloat kE5m2 = {5, 2, true, true};
constexpr SmallFloat kF16 = {5, 10, true, false};
constexpr SmallFloat kBf16 = {8, 7, true, false};

std::uint32_t encode_small(const SmallFloat& format, double value) {
  const std::uint32_t sign = std::signbit(value) ? format.sign_bit() : 0;
  if (std::isnan(value)) return sign | format.nan();
  const double magnitude = std::fabs(value);
  const std::uint32_t overflow = format.saturates ? format.largest_finite() : format.infinity();
  if (std::isinf(magnitude)) return sign | overflow;
  if (magnitude == 0) return sign;
  // The unit in the last place at this magnitude; subnormals share the smallest exponent's.
  const int exponent = std::max(std::ilogb(magnitude), 1 - format.bias());
  const double ulps = std::nearbyint(std::ldexp(magnitude, format.mantissa_bits - exponent));
  const std::uint64_t code =
      (static_cast<std::uint64_t>(exponent + format.bias() - 1) << format.mantissa_bits) +
      static_cast<std::uint64_t>(ulps);
  return sign | (code > format.largest_finite() ? overflow : static_cast<std::uint32_t>(code));
}

double decode_small(const SmallFloat& format, std::uint32_t bits) {
  const double sign = (bits & format.sign_bit()) != 0 ? -1.0 : 1.0;
  const std::uint32_t magnitude = bits & (format.sign_bit() - 1);
  if (format.has_infinity && magnitude >= format.infinity()) {
    return magnitude == format.infinity() ? sign * std::numeric_limits<double>::infinity()
                                          : std::numeric_limits<double>::quiet_NaN();
  }
  if (!format.has_infinity && magnitude == format.nan()) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  const auto exponent = static_cast<int>(magnitude >> format.mantissa_bits);
  const std::uint32_t mantissa = magnitude & ((1U << format.mantissa_bits) - 1);
  const std::uint32_t significand =
      exponent == 0 ? mantissa : mantissa | (1U << format.mantissa_bits);
  return sign * std::ldexp(static_cast<double>(significand),
                           std::max(exponent, 1) - format.bias() - format.mantissa_bits);
}

template <typename T>
void store(T value, std::byte* target) {
  std::memcpy(target, &value, sizeof value);
}

template <typename T>
T load(const std::byte* source) {
  T value;
  std::memcpy(&value, source, sizeof value);
  return value;
}

template <typename T>
void store_integer(double value, std::byte* target) {
  using Limits = std::numeric_limits<T>;
  T result = 0;
  if (value >= static_cast<double>(Limits::max())) {
    result = Limits::max();
  } else if (value <= static_cast<double>(Limits::min())) {
    result = Limits::min();
  } else if (!std::isnan(value)) {
    result = static_cast<T>(std::nearbyint(value));
  }
  store(result, target);
}

/// Every code of a 16-bit format, decoded once.
std::vector<float> make_table(const SmallFloat& format) {
  std::vector<float> table(1U << 16);
  for (std::uint32_t code = 0; code < table.size(); ++code) {
    table[code] = static_cast<float>(decode_small(format, code));  // exact: f32 holds both formats
  }
  return table;
}

std::vector<double> decode_16_bit(const std::vector<float>& table,
                                  std::span<const std::byte> bytes) {
  std::vector<double> values(bytes.size() / 2);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<double>(table[load<std::uint16_t>(bytes.data() + 2 * i)]);
  }
  return values;
}

template <typename T>
std::vector<double> decode_plain(std::span<const std::byte> bytes) {
  std::vector<double> values(bytes.size() / sizeof(T));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<double>(load<T>(bytes.data() + i * sizeof(T)));
  }
  return values;
}

}  // namespace

std::string_view to_string(Dtype dtype) { return kNames[static_cast<std::size_t>(dtype)].name; }

Dtype dtype_from_string(std::string_view text) {
  std::string allowed;
  for (const DtypeName& entry : kNames) {
    if (entry.name == text) return entry.dtype;
    allowed += (allowed.empty() ? "" : ", ") + std::string(entry.name);
  }
  throw InputError("unknown dtype '" + std::string(text) + "'; allowed: " + allowed);
}

std::size_t size_of(Dtype dtype) { return kNames[static_cast<std::size_t>(dtype)].bytes; }

namespace {

template <typename T>
WholeRange range_of_integer() {
  using Limits = std::numeric_limits<T>;
  return {std::is_signed_v<T> ? static_cast<std::uint64_t>(Limits::max()) + 1 : 0,
          static_cast<std::uint64_t>(Limits::max())};
}

/// A significand of `bits` bits, the hidden one included, holds everything up to 2^bits.
WholeRange range_of_significand(int bits) {
  return {std::uint64_t{1} << bits, std::uint64_t{1} << bits};
}

}  // namespace

WholeRange whole_range(Dtype dtype) {
  switch (dtype) {
    case Dtype::kE4m3:
      return range_of_significand(kE4m3.mantissa_bits + 1);
    case Dtype::kE5m2:
      return range_of_significand(kE5m2.mantissa_bits + 1);
    case Dtype::kF16:
      return range_of_significand(kF16.mantissa_bits + 1);
    case Dtype::kBf16:
      return range_of_significand(kBf16.mantissa_bits + 1);
    case Dtype::kF32:
      return range_of_significand(std::numeric_limits<float>::digits);
    case Dtype::kF64:
      return range_of_significand(std::numeric_limits<double>::digits);
    case Dtype::kI8:
      return range_of_integer<std::int8_t>();
    case Dtype::kU8:
      return range_of_integer<std::uint8_t>();
    case Dtype::kI16:
      return range_of_integer<std::int16_t>();
    case Dtype::kU16:
      return range_of_integer<std::uint16_t>();
    case Dtype::kI32:
      return range_of_integer<std::int32_t>();
    case Dtype::kU32:
      return range_of_integer<std::uint32_t>();
    case Dtype::kI64:
      return range_of_integer<std::int64_t>();
    case Dtype::kU64:
      return range_of_integer<std::uint64_t>();
  }
  return {};
}

double largest_finite(Dtype dtype) {
  switch (dtype) {
    case Dtype::kE4m3:
      return decode_small(kE4m3, kE4m3.largest_finite());
    case Dtype::kE5m2:
      return decode_small(kE5m2, kE5m2.largest_finite());
    case Dtype::kF16:
      return decode_small(kF16, kF16.largest_finite());
    case Dtype::kBf16:
      return decode_small(kBf16, kBf16.largest_finite());
    case Dtype::kF32:
      return static_cast<double>(std::numeric_limits<float>::max());
    default:
      return std::numeric_limits<double>::max();
  }
}

bool is_floating(Dtype dtype) { return dtype <= Dtype::kF64; }

double smallest_denormal(Dtype dtype) {
  const std::uint64_t code = 1;
  return decode(dtype, reinterpret_cast<const std::byte*>(&code));
}

double next_below(Dtype dtype, double value) {
  std::uint64_t code = 0;
  auto* const bytes = reinterpret_cast<std::byte*>(&code);
  encode(dtype, value, bytes);
  if (decode(dtype, bytes) < value) return decode(dtype, bytes);
  const std::uint64_t sign = std::uint64_t{1} << (8 * size_of(dtype) - 1);
  if ((code & ~sign) == 0) return -smallest_denormal(dtype);
  code += (code & sign) != 0 ? 1 : static_cast<std::uint64_t>(-1);
  return decode(dtype, bytes);
}

void encode(Dtype dtype, double value, std::byte* target) {
  switch (dtype) {
    case Dtype::kE4m3:
      return store(static_cast<std::uint8_t>(encode_small(kE4m3, value)), target);
    case Dtype::kE5m2:
      return store(static_cast<std::uint8_t>(encode_small(kE5m2, value)), target);
    case Dtype::kF16:
      return store(static_cast<std::uint16_t>(encode_small(kF16, value)), target);
    case Dtype::kBf16:
      return store(static_cast<std::uint16_t>(encode_small(kBf16, value)), target);
    case Dtype::kF32:
      return store(static_cast<float>(value), target);
    case Dtype::kF64:
      return store(value, target);
    case Dtype::kI8:
      return store_integer<std::int8_t>(value, target);
    case Dtype::kU8:
      return store_integer<std::uint8_t>(value, target);
    case Dtype::kI16:
      return store_integer<std::int16_t>(value, target);
    case Dtype::kU16:
      return store_integer<std::uint16_t>(value, target);
    case Dtype::kI32:
      return store_integer<std::int32_t>(value, target);
    case Dtype::kU32:
      return store_integer<std::uint32_t>(value, target);
    case Dtype::kI64:
      return store_integer<std::int64_t>(value, target);
    case Dtype::kU64:
      return store_integer<std::uint64_t>(value, target);
  }
}

double decode(Dtype dtype, const std::byte* source) {
  switch (dtype) {
    case Dtype::kE4m3:
      return decode_small(kE4m3, load<std::uint8_t>(source));
    case Dtype::kE5m2:
      return decode_small(kE5m2, load<std::uint8_t>(source));
    case Dtype::kF16:
      return decode_small(kF16, load<std::uint16_t>(source));
    case Dtype::kBf16:
      return decode_small(kBf16, load<std::uint16_t>(source));
    case Dtype::kF32:
      return static_cast<double>(load<float>(source));
    case Dtype::kF64:
      return load<double>(source);
    case Dtype::kI8:
      return load<std::int8_t>(source);
    case Dtype::kU8:
      return load<std::uint8_t>(source);
    case Dtype::kI16:
      return load<std::int16_t>(source);
    case Dtype::kU16:
      return load<std::uint16_t>(source);
    case Dtype::kI32:
      return load<std::int32_t>(source);
    case Dtype::kU32:
      return load<std::uint32_t>(source);
    case Dtype::kI64:
      return static_cast<double>(load<std::int64_t>(source));
    case Dtype::kU64:
      return static_cast<double>(load<std::uint64_t>(source));
  }
  return 0;
}

std::vector<double> decode_all(Dtype dtype, std::span<const std::byte> bytes) {
  switch (dtype) {
    case Dtype::kF16: {
      static const std::vector<float> table = make_table(kF16);
      return decode_16_bit(table, bytes);
    }
    case Dtype::kBf16: {
      static const std::vector<float> table = make_table(kBf16);
      return decode_16_bit(table, bytes);
    }
    case Dtype::kF32:
      return decode_plain<float>(bytes);
    case Dtype::kF64:
      return decode_plain<double>(bytes);
    case Dtype::kI32:
      return decode_plain<std::int32_t>(bytes);
    case Dtype::kU32:
      return decode_plain<std::uint32_t>(bytes);
    default:
      break;
  }
  const std::size_t size = size_of(dtype);
  std::vector<double> values(bytes.size() / size);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = decode(dtype, bytes.data() + i * size);
  }
  return values;
}

}  // namespace evo
