#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace evo {

/// Sizes of a problem, and the number of elements of a buffer that a kernel touched with these
/// sizes (the last index plus one).
struct ExtentSample {
  std::map<std::string, double> sizes;
  std::uint64_t count = 0;
};

/// An expression of the sizes that gives the number of touched elements.
struct ExtentFit {
  std::string text;      ///< empty: no expression was found
  bool is_exact = true;  ///< false: up to two rows and a few elements at the end are untouched
};

/// The simplest expression of `names` that gives the counts of all samples: a number; a product of
/// sizes; a product plus a constant (rows + 1), times a factor, or divided by a number or a size
/// (ceil_div(N, 4)); or a product of sizes with a border ((W + 2)*(H + 2)). If no such expression
/// exists, a product of sizes that exceeds the counts by at most two rows and a few elements,
/// because many kernels do not access the border of an array. The expression for a single sample is
/// a guess; it always contains sizes, because a number would fit any sample.
[[nodiscard]] ExtentFit fitted_extent(const std::vector<std::string>& names,
                                      const std::vector<ExtentSample>& samples);

}  // namespace evo
