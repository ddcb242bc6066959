#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "engine/ptx/types.hpp"

namespace evo::ptx {

/// How an architecture's tensor cores add: in one step, the products and the accumulator are
/// aligned to the largest exponent, truncated to `fraction_bits` below it and added exactly. The
/// sum is rounded toward zero. Source: microsoft/MMA-Sim (arXiv 2511.10909), tables of Ampere, Ada
/// and Hopper.
struct DotRule {
  int step = 8;  ///< number of products added at once
  int fraction_bits = 24;
  int result_bits = 23;  ///< fraction bits kept in the f32 result
};

struct MmaNumerics {
  DotRule half = {};  ///< for f16 and bf16
  DotRule tf32 = {.step = 4, .fraction_bits = 24, .result_bits = 23};
  DotRule fp8 = {.step = 16, .fraction_bits = 13, .result_bits = 13};
  /// For wgmma, from the same source: fp8 has native support in steps of 32; f16 and bf16 as in
  /// mma.sync.
  DotRule wgmma_half = {.step = 16, .fraction_bits = 25, .result_bits = 23};
  DotRule wgmma_fp8 = {.step = 32, .fraction_bits = 13, .result_bits = 13};
  /// mma.sync has no fp8 unit: bytes are unpacked to f16. The lower and the upper two bytes of each
  /// register are multiplied in two steps, starting from zero, and C is added to the result.
  /// Source: the machine code of ptxas 13.0, and outputs of an H200.
  bool fp8_as_halves = false;
  bool has_fp8 = true;
};

/// Numerics of sm_80 … sm_90a. Other architectures get the newest known rule.
[[nodiscard]] MmaNumerics mma_numerics(std::string_view arch);

/// D = A·B + C for m = 16, n = 8. `a` is [16][k], `b` is [k][8], `c` and `d` are [16][8]; all
/// inputs are values of their narrow type, widened exactly. `min_exponent`: the smallest exponent
/// of a normal number of the input type (−14 for f16); subnormals use it, too. `half_result`: d is
/// rounded to nearest f16 after each step.
void mma_tile(const DotRule& rule, int k, int min_exponent, bool half_result, const float* a,
              const float* b, const float* c, float* d);

/// mma_tile for bytes unpacked to f16 (MmaNumerics::fp8_as_halves), k = 32.
void unpacked_fp8_tile(const DotRule& rule, bool half_result, const float* a, const float* b,
                       const float* c, float* d);

/// Widens `rows` rows of elements of 8 or 16 bits exactly; NaN stays NaN. A row has `bytes_per_row`
/// bytes, a multiple of 16. Rows are written to `to`, `stride` apart.
void widen_rows(const std::byte* from, Type type, int bytes_per_row, int rows, float* to,
                int stride);

/// The transpose of [8][k], for mma_tile's b. `k` is a multiple of 8.
void transpose_rows(const float* from, int k, float* to);

/// One step for one element, in straightforward double precision: the reference for mma_tile.
[[nodiscard]] float dot_step_reference(const DotRule& rule, int count, int min_exponent,
                                       const float* a, const float* b, float c);

}  // namespace evo::ptx
