// Checks the output of an attention kernel (problem sdpa_fp8) against double precision on the CPU.
#pragma once

#include <cstddef>
#include <vector>

#include "exported_kernel.hpp"

/// How some rows of the output compare with the reference.
struct CheckReport {
  std::size_t rows = 0;
  double max_abs_error = 0;  ///< infinity when an element was not finite
  double relative_l2 = 0;
  double max_row_error = 0;  ///< largest error / rms of its row of the reference
  bool passed = false;       ///< within the manifest's tolerance
};

/// O = softmax(softmax_scale · (q_scale Q)(k_scale K)ᵀ)(v_scale V), causal and with grouped heads
/// where the manifest says so, for every head's first and last
/// row and some between. `output`: the bytes of `o`.
[[nodiscard]] CheckReport check_sdpa_fp8(const Manifest& manifest,
                                         const std::vector<KernelArgument>& arguments,
                                         const std::vector<std::byte>& output);
