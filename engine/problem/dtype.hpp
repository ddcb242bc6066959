#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace evo {

/// Element types of kernel arguments.
enum class Dtype {
  kE4m3,
  kE5m2,
  kF16,
  kBf16,
  kF32,
  kF64,
  kI8,
  kU8,
  kI16,
  kU16,
  kI32,
  kU32,
  kI64,
  kU64
};

/// The names used in problem files: "e4m3", "f16"…
[[nodiscard]] std::string_view to_string(Dtype dtype);

/// Throws InputError for an unknown name, listing the known ones.
[[nodiscard]] Dtype dtype_from_string(std::string_view text);

/// Size of one element in bytes.
[[nodiscard]] std::size_t size_of(Dtype dtype);

/// True for the types that know NaN.
[[nodiscard]] bool is_floating(Dtype dtype);

/// The whole numbers from −below to above that a type holds exactly, without a gap: all of an
/// integer type, and those of a floating type up to the first that it would round.
struct WholeRange {
  std::uint64_t below = 0;
  std::uint64_t above = 0;
};
[[nodiscard]] WholeRange whole_range(Dtype dtype);

/// The largest finite value of a floating type.
[[nodiscard]] double largest_finite(Dtype dtype);

/// The number of a floating type before `value`: the largest below it, −infinity at the end.
[[nodiscard]] double next_below(Dtype dtype, double value);

/// The smallest denormal number of a floating type that is above 0.
[[nodiscard]] double smallest_denormal(Dtype dtype);

/// Encodes one number into `size_of(dtype)` bytes at `target`. Floats round to nearest even; e4m3
/// and e5m2 saturate to their largest finite value (OCP 8-bit floating point specification);
/// f16 overflows to infinity; integers round and saturate. NaN stays NaN, and is 0 in integers.
void encode(Dtype dtype, double value, std::byte* target);

/// Decodes one element. 64-bit integers lose precision above 2^53.
[[nodiscard]] double decode(Dtype dtype, const std::byte* source);

/// Decodes `bytes.size() / size_of(dtype)` elements; f64 and 64-bit integers are rounded to double,
/// everything else is exact.
[[nodiscard]] std::vector<double> decode_all(Dtype dtype, std::span<const std::byte> bytes);

}  // namespace evo
