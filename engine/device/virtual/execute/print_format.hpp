#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace evo::ptx {

/// What one call of printf makes of its format and arguments.
struct PrintedText {
  std::string text;
  int arguments = 0;  ///< that the format took: what CUDA's printf returns
};

/// Where the arguments of a call are found.
struct PrintSource {
  /// The little-endian value of `bytes` (4 or 8) bytes at `offset` of the argument buffer.
  std::function<std::uint64_t(std::uint32_t offset, std::uint32_t bytes)> argument;
  /// The string at an address of the device.
  std::function<std::string(std::uint64_t address)> string;
};

/// Formats as CUDA's printf does: flags `-+ #0`, width and precision (also `*`, at most 4096),
/// sizes h, hh, l, ll, z, j and t, conversions d i u o x X c f F e E g G a A s p and %%. A
/// conversion of another kind, and what comes after 32 arguments, stands in the text as it was
/// written. Arguments lie one after the other, each on a multiple of its size.
[[nodiscard]] PrintedText format_print(std::string_view format, const PrintSource& source);

}  // namespace evo::ptx
