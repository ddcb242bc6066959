#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/gate/correctness/compare.hpp"

namespace evo {

/// A made-up output and its expected content, for tests of the comparisons on the host and on the
/// device.
struct MadeOutput {
  std::string name;
  Dtype dtype = Dtype::kF32;
  std::vector<std::byte> output;
  std::vector<std::byte> expected;
  double bad_abs_error = 0;
  std::size_t row_length = 0;
};

[[nodiscard]] std::vector<std::byte> encoded(Dtype dtype, const std::vector<double>& values);

/// Makes right and wrong outputs of every type, with and without rows: random bits (with many kinds
/// of NaN, and often infinities and denormals), ragged sizes, rows split over warps, rows of zeros,
/// errors in one element, and extreme numbers.
[[nodiscard]] std::vector<MadeOutput> made_outputs(std::uint64_t seed);

/// Expects that two comparisons are equal, except that relative_l2 and max_row_error may differ by
/// a relative error of 1e-12.
void expect_same(const Comparison& found, const Comparison& expected);

}  // namespace evo
