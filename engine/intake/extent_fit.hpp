#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace evo {

/// Sizes of a problem and how much a kernel touched with them: one more than the last element.
struct ExtentSample {
  std::map<std::string, double> sizes;
  std::uint64_t count = 0;
};

/// An expression of sizes for what a kernel touches.
struct ExtentFit {
  std::string text;      ///< empty: none was found
  bool is_exact = true;  ///< false: up to two rows of it are beyond what was touched
};

/// The simplest expression of `names` that has all these values: a number; a product of sizes; the
/// same with something added (rows + 1), times a factor, or divided (ceil_div(N, 4)); a product of
/// sizes with a border ((W + 2)*(H + 2)). Where none of them has, a product of sizes that is less
/// than two rows larger: kernels leave out borders. One sample gives a guess, which is no number.
[[nodiscard]] ExtentFit fitted_extent(const std::vector<std::string>& names,
                                      const std::vector<ExtentSample>& samples);

}  // namespace evo
