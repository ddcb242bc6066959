#pragma once

#include <string_view>
#include <vector>

#include "engine/core/random.hpp"
#include "tests/agreement/agreement_case.hpp"

namespace evo::agreement {

inline constexpr const char* kOrdinarySource = "tests/engine/device/virtual/kernels/ordinary.cu";

/// Reproducible inputs: the random numbers depend only on `name`. The class uses no mathematical
/// library, so that every machine generates the same bytes.
class Inputs {
 public:
  explicit Inputs(std::string_view name);

  [[nodiscard]] std::vector<float> floats(std::size_t count, double low, double high);
  [[nodiscard]] std::vector<double> doubles(std::size_t count, double low, double high);
  [[nodiscard]] std::vector<int> integers(std::size_t count, int low, int high);
  [[nodiscard]] std::vector<std::uint8_t> bytes(std::size_t count);

  /// Random bits, preceded by the type's edge values: zeros, the smallest and largest subnormal and
  /// normal numbers, infinities, NaNs, rounding ties of narrower types, and pairs with random
  /// exponents.
  [[nodiscard]] std::vector<float> edge_floats(std::size_t count);
  [[nodiscard]] std::vector<double> edge_doubles(std::size_t count);
  /// Pairs of 16-bit floats in a word: edge values, then random bits.
  [[nodiscard]] std::vector<std::uint32_t> edge_halves(std::size_t count);
  /// Zeros, ones, powers of two and their neighbours, then random bits.
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
