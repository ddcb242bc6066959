#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace evo {

/// Element types of kernel arguments.
enum class Dtype {
#define EVO_DTYPE(id, ...) k##id,
#include "engine/problem/dtypes.def"
#undef EVO_DTYPE
};

enum class NumberKind { kFloat, kSigned, kUnsigned };

/// How a floating type uses the bit patterns whose exponent is the largest.
enum class TopExponent {
  kInfinity,   ///< infinity and NaN
  kSaturates,  ///< infinity and NaN, but finite numbers saturate instead of becoming infinity
  kNumbers,    ///< numbers; only the code of all ones is NaN, and numbers saturate
};

/// A row of dtypes.def.
struct DtypeRow {
  Dtype dtype;
  std::string_view name;
  NumberKind kind;
  std::size_t bytes;
  int exponent_bits;
  int mantissa_bits;
  TopExponent top_exponent;
  std::string_view numpy;
  std::string_view cpp;
  double max_abs_error;
  double relative_l2;

  /// The exponent bias. This function and the next ones up to largest_finite() are for floating
  /// types only. The bit patterns that they return have the sign bit 0.
  [[nodiscard]] int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  [[nodiscard]] bool has_infinity() const { return top_exponent != TopExponent::kNumbers; }
  [[nodiscard]] std::uint64_t infinity() const {
    return ((std::uint64_t{1} << exponent_bits) - 1) << mantissa_bits;
  }
  /// The bit pattern of NaN: all ones except the sign.
  [[nodiscard]] std::uint64_t nan() const { return sign_bit() - 1; }
  [[nodiscard]] std::uint64_t largest_finite() const {
    return has_infinity() ? infinity() - 1 : nan() - 1;
  }
  [[nodiscard]] std::uint64_t sign_bit() const { return std::uint64_t{1} << (8 * bytes - 1); }
};

/// All types in the order of the enumeration.
[[nodiscard]] std::span<const DtypeRow> dtype_rows();
[[nodiscard]] const DtypeRow& row_of(Dtype dtype);

/// The names used in problem files: "e4m3", "f16"…
[[nodiscard]] std::string_view to_string(Dtype dtype);

/// Throws InputError, which lists the types' names, if `text` is none of them.
[[nodiscard]] Dtype dtype_from_string(std::string_view text);

/// True for the types that a scalar argument may have: all types except 8-bit floats.
[[nodiscard]] bool may_be_scalar(Dtype dtype);

/// The names of the types for which `holds` returns true, separated by commas: "f16, bf16, f32".
template <typename Predicate>
[[nodiscard]] std::string dtype_names(Predicate holds) {
  std::string names;
  for (const DtypeRow& row : dtype_rows()) {
    if (holds(row.dtype)) names.append(names.empty() ? "" : ", ").append(row.name);
  }
  return names;
}

/// Size of one element in bytes.
[[nodiscard]] std::size_t size_of(Dtype dtype);

/// True for types that have NaN.
[[nodiscard]] bool is_floating(Dtype dtype);

/// The whole numbers from −below to above, each of which a type represents exactly: all values of
/// an integer type; for a floating type, all whole numbers below the first one that it would round,
/// at most the largest finite number.
struct WholeRange {
  std::uint64_t below = 0;
  std::uint64_t above = 0;
};
[[nodiscard]] WholeRange whole_range(Dtype dtype);

/// The largest finite value of a floating type.
[[nodiscard]] double largest_finite(Dtype dtype);

/// The largest number of a floating type that is below `value`; −infinity if there is none (NaN if
/// the type has no infinity).
[[nodiscard]] double next_below(Dtype dtype, double value);

/// The smallest positive denormal number of a floating type.
[[nodiscard]] double smallest_denormal(Dtype dtype);

/// Encodes one number into `size_of(dtype)` bytes at `target`. Floats round to nearest even; the
/// column top_exponent of dtypes.def says whether large values saturate or overflow. Integers round
/// and saturate. NaN becomes NaN in floats and 0 in integers.
void encode(Dtype dtype, double value, std::byte* target);

/// Decodes one element. 64-bit integers lose precision above 2^53.
[[nodiscard]] double decode(Dtype dtype, const std::byte* source);

/// Decodes `bytes.size() / size_of(dtype)` elements. f64 is exact and 64-bit integers are rounded
/// to double; all other types are exact.
[[nodiscard]] std::vector<double> decode_all(Dtype dtype, std::span<const std::byte> bytes);

}  // namespace evo
