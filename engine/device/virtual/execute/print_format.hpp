#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace evo::ptx {

/// The result of one call of printf.
struct PrintedText {
  std::string text;
  int arguments = 0;  ///< number of arguments that the format used, which CUDA's printf returns
};

/// Functions that read the arguments of a printf call.
struct PrintSource {
  /// Reads the little-endian value of `bytes` (4 or 8) bytes at `offset` among the arguments of a
  /// printf call.
  std::function<std::uint64_t(std::uint32_t offset, std::uint32_t bytes)> argument;
  /// Reads the string at an address in the device's memory.
  std::function<std::string(std::uint64_t address)> string;
};

/// Formats text as CUDA's printf does: flags `-+ #0`, width and precision (also `*`, at most 4096),
/// sizes h, hh, l, ll, z, j and t, conversions d i u o x X c f F e E g G a A s p and %%.
/// Conversions that CUDA's printf does not support, and conversions after 32 arguments, are copied
/// to the result unchanged. Formatting stops when the result has at least 1 MiB. The arguments are
/// consecutive in memory, and each is aligned to its size.
[[nodiscard]] PrintedText format_print(std::string_view format, const PrintSource& source);

}  // namespace evo::ptx
