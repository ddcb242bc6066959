#pragma once

#include <string_view>
#include <vector>

#include "engine/core/random.hpp"
#include "tests/agreement/agreement_case.hpp"

namespace evo::agreement {

inline constexpr const char* kOrdinarySource = "tests/engine/device/virtual/kernels/ordinary.cu";

/// Reproducible inputs: the stream depends on `name` alone. Nothing here calls the mathematical
/// library, so that every machine makes the same bytes.
class Inputs {
 public:
  explicit Inputs(std::string_view name);

  [[nodiscard]] std::vector<float> floats(std::size_t count, double low, double high);
  [[nodiscard]] std::vector<double> doubles(std::size_t count, double low, double high);
  [[nodiscard]] std::vector<int> integers(std::size_t count, int low, int high);
  [[nodiscard]] std::vector<std::uint8_t> bytes(std::size_t count);

  /// Any bits, after the edges of the type: zeros, the smallest and largest subnormal and normal
  /// numbers, infinities, NaNs, ties of the roundings to narrower types; values at random exponents
  /// next to each other.
  [[nodiscard]] std::vector<float> edge_floats(std::size_t count);
  [[nodiscard]] std::vector<double> edge_doubles(std::size_t count);
  /// Pairs of 16-bit floats in a word: edges, then any bits.
  [[nodiscard]] std::vector<std::uint32_t> edge_halves(std::size_t count);
  /// Zeros, ones, powers of two and their neighbours, then any bits.
  [[nodiscard]] std::vector<std::uint32_t> words(std::size_t count);
  [[nodiscard]] std::vector<std::uint64_t> wide_words(std::size_t count);

  /// Words of 16-bit floats with `mantissa_bits` and exponents in [lowest, highest] (biased).
  [[nodiscard]] std::vector<std::uint32_t> half_pairs(std::size_t count, unsigned mantissa_bits,
                                                      unsigned lowest, unsigned highest);

 private:
  Random random_;
};

[[nodiscard]] std::vector<AgreementCase> ordinary_cases();
[[nodiscard]] std::vector<AgreementCase> ordinary_control_cases();
[[nodiscard]] std::vector<AgreementCase> approximation_cases();
[[nodiscard]] std::vector<AgreementCase> ieee_cases();
[[nodiscard]] std::vector<AgreementCase> half_cases();
[[nodiscard]] std::vector<AgreementCase> conversion_cases();
[[nodiscard]] std::vector<AgreementCase> integer_cases();
[[nodiscard]] std::vector<AgreementCase> warp_cases();
[[nodiscard]] std::vector<AgreementCase> memory_cases();
[[nodiscard]] std::vector<AgreementCase> matrix_cases();

}  // namespace evo::agreement
