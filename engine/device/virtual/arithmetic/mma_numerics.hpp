#pragma once

#include <cstddef>
#include <string_view>

#include "engine/ptx/types.hpp"

namespace evo::ptx {

/// The rule by which the tensor cores of an architecture add products. In each step, the products
/// and the accumulator are aligned to their largest exponent, truncated to `fraction_bits` bits
/// below it, and added exactly. The sum is rounded toward zero to `result_bits` fraction bits. The
/// rules are from microsoft/MMA-Sim (arXiv 2511.10909), tables of Ampere, Ada and Hopper.
struct DotRule {
  int step = 8;  ///< number of products added in one step
  int fraction_bits = 24;
  int result_bits = 23;  ///< fraction bits kept in the f32 result
};

struct MmaNumerics {
  DotRule half = {};  ///< for f16 and bf16
  DotRule tf32 = {.step = 4, .fraction_bits = 24, .result_bits = 23};
  DotRule fp8 = {.step = 16, .fraction_bits = 13, .result_bits = 13};
  /// The rules for wgmma, from MMA-Sim: the hardware multiplies fp8 in steps of 32 products; f16
  /// and bf16 are computed as in Hopper's mma.sync.
  DotRule wgmma_half = {.step = 16, .fraction_bits = 25, .result_bits = 23};
  DotRule wgmma_fp8 = {.step = 32, .fraction_bits = 13, .result_bits = 13};
  /// True: ptxas emulates mma.sync of fp8 with f16. The emulation unpacks the bytes to f16,
  /// multiplies the lower and the upper two bytes of each register in two steps that start with
  /// zero, and adds C to the result. Sources are the machine code of ptxas 13.0 and outputs of an
  /// H200.
  bool fp8_as_halves = false;
  bool has_fp8 = true;
};

/// The rules by which the tensor cores of the architecture `arch`, from sm_80 to sm_90a, compute.
/// For newer architectures, returns the rules of sm_90.
[[nodiscard]] MmaNumerics mma_numerics(std::string_view arch);

/// Computes D = A·B + C for m = 16, n = 8 and k ≤ 32. `a` is [16][k], `b` is [k][8], `c` and `d`
/// are [16][8]. All inputs are values of a narrower type, such as f16, that were widened to f32
/// exactly. `min_exponent`: the exponent of the smallest normal number of the input type (−14 for
/// f16). Subnormal numbers of the input type are treated as having the exponent `min_exponent`,
/// too. `half_result`: d is rounded to the nearest f16 after each step.
void mma_tile(const DotRule& rule, int k, int min_exponent, bool half_result, const float* a,
              const float* b, const float* c, float* d);

/// Like mma_tile(), for fp8 inputs that are unpacked to f16 (MmaNumerics::fp8_as_halves); k = 32.
void unpacked_fp8_tile(const DotRule& rule, bool half_result, const float* a, const float* b,
                       const float* c, float* d);

/// Widens `rows` rows of 8-bit or 16-bit elements exactly; NaN stays NaN. A row has `bytes_per_row`
/// bytes, a multiple of 16. Consecutive rows in `to` are `stride` floats apart.
void widen_rows(const std::byte* from, Type type, int bytes_per_row, int rows, float* to,
                int stride);

/// Transposes [8][k] to [k][8], for the parameter `b` of mma_tile(). `k` must be a multiple of 8.
void transpose_rows(const float* from, int k, float* to);

/// Computes one step for one element in double precision. mma_tile() uses this function for tiles
/// with infinities or NaN; for other tiles, it is the reference of tests.
[[nodiscard]] float dot_step_reference(const DotRule& rule, int count, int min_exponent,
                                       const float* a, const float* b, float c);

}  // namespace evo::ptx
