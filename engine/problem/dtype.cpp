#include "engine/problem/dtype.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <mutex>
#include <string>
#include <type_traits>

#include "engine/core/error.hpp"

namespace evo {
namespace {

constexpr auto kRows = [] {
  using enum NumberKind;
  using enum TopExponent;
  return std::to_array<DtypeRow>({
#define EVO_DTYPE(id, ...) {Dtype::k##id, __VA_ARGS__},
#include "engine/problem/dtypes.def"
#undef EVO_DTYPE
  });
}();

/// Encodes a number in a floating type of at most 16 bits.
std::uint64_t encode_small(const DtypeRow& format, double value) {
  const std::uint64_t sign = std::signbit(value) ? format.sign_bit() : 0;
  if (std::isnan(value)) return sign | format.nan();
  const double magnitude = std::fabs(value);
  const bool saturates = format.top_exponent != TopExponent::kInfinity;
  const std::uint64_t overflow = saturates ? format.largest_finite() : format.infinity();
  if (std::isinf(magnitude)) return sign | overflow;
  if (magnitude == 0) return sign;
  // The exponent determines the unit in the last place; all subnormals have the smallest exponent.
  const int exponent = std::max(std::ilogb(magnitude), 1 - format.bias());
  const double ulps = std::nearbyint(std::ldexp(magnitude, format.mantissa_bits - exponent));
  const std::uint64_t code =
      (static_cast<std::uint64_t>(exponent + format.bias() - 1) << format.mantissa_bits) +
      static_cast<std::uint64_t>(ulps);
  return sign | (code > format.largest_finite() ? overflow : code);
}

double decode_small(const DtypeRow& format, std::uint64_t bits) {
  const double sign = (bits & format.sign_bit()) != 0 ? -1.0 : 1.0;
  const std::uint64_t magnitude = bits & (format.sign_bit() - 1);
  if (format.has_infinity() && magnitude >= format.infinity()) {
    return magnitude == format.infinity() ? sign * std::numeric_limits<double>::infinity()
                                          : std::numeric_limits<double>::quiet_NaN();
  }
  if (!format.has_infinity() && magnitude == format.nan()) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  const auto exponent = static_cast<int>(magnitude >> format.mantissa_bits);
  const std::uint64_t one = std::uint64_t{1} << format.mantissa_bits;
  const std::uint64_t mantissa = magnitude & (one - 1);
  const std::uint64_t significand = exponent == 0 ? mantissa : mantissa | one;
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

/// Calls `use` with a value of the C++ type for the data type of `row`, which must be an integer
/// type or a floating type of 32 or 64 bits.
template <typename Use>
auto with_type(const DtypeRow& row, Use use) {
  if (row.kind == NumberKind::kFloat) return row.bytes == 4 ? use(float{}) : use(double{});
  const bool is_signed = row.kind == NumberKind::kSigned;
  switch (row.bytes) {
    case 1:
      return is_signed ? use(std::int8_t{}) : use(std::uint8_t{});
    case 2:
      return is_signed ? use(std::int16_t{}) : use(std::uint16_t{});
    case 4:
      return is_signed ? use(std::int32_t{}) : use(std::uint32_t{});
    default:
      return is_signed ? use(std::int64_t{}) : use(std::uint64_t{});
  }
}

bool is_small_float(const DtypeRow& row) {
  return row.kind == NumberKind::kFloat && row.bytes <= 2;
}

std::uint64_t bits_at(const DtypeRow& row, const std::byte* source) {
  return row.bytes == 1 ? load<std::uint8_t>(source) : load<std::uint16_t>(source);
}

/// The values of all bit patterns of a format of at most 16 bits, decoded at the first call.
const std::vector<float>& table_of(const DtypeRow& format) {
  static std::mutex mutex;
  static std::map<Dtype, std::vector<float>> tables;
  const std::scoped_lock lock(mutex);
  std::vector<float>& table = tables[format.dtype];
  if (table.empty()) {
    table.resize(std::size_t{1} << (8 * format.bytes));
    for (std::size_t code = 0; code < table.size(); ++code) {
      table[code] = static_cast<float>(decode_small(format, code));  // exact
    }
  }
  return table;
}

}  // namespace

std::span<const DtypeRow> dtype_rows() { return kRows; }

const DtypeRow& row_of(Dtype dtype) { return kRows[static_cast<std::size_t>(dtype)]; }

std::string_view to_string(Dtype dtype) { return row_of(dtype).name; }

Dtype dtype_from_string(std::string_view text) {
  for (const DtypeRow& row : kRows) {
    if (row.name == text) return row.dtype;
  }
  throw InputError("unknown dtype '" + std::string(text) +
                   "'; allowed: " + dtype_names([](Dtype) { return true; }));
}

bool may_be_scalar(Dtype dtype) { return !is_floating(dtype) || size_of(dtype) >= 2; }

std::size_t size_of(Dtype dtype) { return row_of(dtype).bytes; }

bool is_floating(Dtype dtype) { return row_of(dtype).kind == NumberKind::kFloat; }

WholeRange whole_range(Dtype dtype) {
  const DtypeRow& row = row_of(dtype);
  if (row.kind == NumberKind::kFloat) {
    // A significand of n bits, including the hidden bit, represents all integers up to 2^n.
    const std::uint64_t exact = std::uint64_t{1} << (row.mantissa_bits + 1);
    const double largest = std::floor(largest_finite(dtype));
    const auto most =
        largest < static_cast<double>(exact) ? static_cast<std::uint64_t>(largest) : exact;
    return {most, most};
  }
  return row.kind == NumberKind::kSigned ? WholeRange{row.sign_bit(), row.sign_bit() - 1}
                                         : WholeRange{0, row.sign_bit() | (row.sign_bit() - 1)};
}

double largest_finite(Dtype dtype) {
  const DtypeRow& row = row_of(dtype);
  if (is_small_float(row)) return decode_small(row, row.largest_finite());
  return row.kind == NumberKind::kFloat && row.bytes == 4
             ? static_cast<double>(std::numeric_limits<float>::max())
             : std::numeric_limits<double>::max();
}

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
  const DtypeRow& row = row_of(dtype);
  if (is_small_float(row)) {
    const std::uint64_t code = encode_small(row, value);
    return row.bytes == 1 ? store(static_cast<std::uint8_t>(code), target)
                          : store(static_cast<std::uint16_t>(code), target);
  }
  with_type(row, [&]<typename T>(T) {
    if constexpr (std::is_integral_v<T>) {
      store_integer<T>(value, target);
    } else {
      store(static_cast<T>(value), target);
    }
  });
}

double decode(Dtype dtype, const std::byte* source) {
  const DtypeRow& row = row_of(dtype);
  if (is_small_float(row)) return decode_small(row, bits_at(row, source));
  return with_type(row, [&]<typename T>(T) { return static_cast<double>(load<T>(source)); });
}

std::vector<double> decode_all(Dtype dtype, std::span<const std::byte> bytes) {
  const DtypeRow& row = row_of(dtype);
  std::vector<double> values(bytes.size() / row.bytes);
  if (is_small_float(row)) {
    const std::vector<float>& table = table_of(row);
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<double>(table[bits_at(row, bytes.data() + i * row.bytes)]);
    }
    return values;
  }
  with_type(row, [&]<typename T>(T) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<double>(load<T>(bytes.data() + i * sizeof(T)));
    }
  });
  return values;
}

}  // namespace evo
