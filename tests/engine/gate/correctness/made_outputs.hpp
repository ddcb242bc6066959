#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/gate/correctness/compare.hpp"

namespace evo {

/// A made-up output and its expected content, for testing the ways to compare them.
struct MadeOutput {
  std::string name;
  Dtype dtype = Dtype::kF32;
  std::vector<std::byte> output;
  std::vector<std::byte> expected;
  double bad_abs_error = 0;
  std::size_t row_length = 0;
};

[[nodiscard]] std::vector<std::byte> encoded(Dtype dtype, const std::vector<double>& values);

/// Right and wrong outputs of every type: random bits (all kinds of NaN, infinities, zeros of both
/// signs, denormals), with and without rows, ragged sizes, rows split over warps, rows of zeros,
/// errors in one element, extreme numbers.
[[nodiscard]] std::vector<MadeOutput> made_outputs(std::uint64_t seed);

/// Expects equal counts, indices, texts and maxima, and sums that agree within 1e-12.
void expect_same(const Comparison& found, const Comparison& expected);

}  // namespace evo
