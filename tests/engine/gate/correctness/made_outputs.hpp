#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/gate/correctness/compare.hpp"

namespace evo {

/// An output and what is expected of it, made up for comparing ways of comparing.
struct MadeOutput {
  std::string name;
  Dtype dtype = Dtype::kF32;
  std::vector<std::byte> output;
  std::vector<std::byte> expected;
  double bad_abs_error = 0;
  std::size_t row_length = 0;
};

[[nodiscard]] std::vector<std::byte> encoded(Dtype dtype, const std::vector<double>& values);

/// Outputs of every type: right ones and wrong ones, random bits (NaN of every kind, infinities,
/// zeros of both signs, denormals), with and without rows, of ragged sizes, rows that several warps
/// share, rows of zeros, errors in one element, extreme numbers.
[[nodiscard]] std::vector<MadeOutput> made_outputs(std::uint64_t seed);

/// Counts, indices, texts and maxima are equal, sums within 1e-12.
void expect_same(const Comparison& found, const Comparison& expected);

}  // namespace evo
