// Inputs and a reference for an attention kernel (problem sdpa_fp8): q, k, v of e4m3, o of f16.
#pragma once

#include <map>
#include <random>
#include <string>
#include <vector>

/// The errors of some rows of the output against the reference.
struct CheckReport {
  std::size_t rows = 0;
  double max_abs_error = 0;  ///< infinity when an element was not finite
  double relative_l2 = 0;
  double max_row_error = 0;  ///< largest error of an element / rms of the reference's row
};

/// Fills `bytes` with random values if `name` is an input of the kernel.
void draw_attention_input(const std::string& name, std::vector<unsigned char>& bytes,
                          std::mt19937& random);

/// Compares `output`, the bytes of `o`, with O = softmax((q_scale Q)(k_scale K)ᵀ / sqrt(D))(v_scale
/// V) in double precision, in the first, the last and up to four more rows of every head. `sizes`
/// gives the values of the shape variables by name, `inputs` the bytes of the inputs by name.
[[nodiscard]] CheckReport check_sdpa_fp8(
    const std::map<std::string, double>& sizes,
    const std::map<std::string, std::vector<unsigned char>>& inputs,
    const std::vector<unsigned char>& output);
