#pragma once

#include <string_view>
#include <vector>

#include "engine/core/random.hpp"
#include "tests/agreement/agreement_case.hpp"

namespace evo::agreement {

inline constexpr const char* kOrdinarySource = "tests/engine/device/virtual/kernels/ordinary.cu";

/// Generates random inputs of test kernels, which depend only on `name`. Uses no mathematical
/// library, so that every machine generates the same bytes.
class Inputs {
 public:
  explicit Inputs(std::string_view name);

  [[nodiscard]] std::vector<float> floats(std::size_t count, double low, double high);
  [[nodiscard]] std::vector<double> doubles(std::size_t count, double low, double high);
  [[nodiscard]] std::vector<int> integers(std::size_t count, int low, int high);
  [[nodiscard]] std::vector<std::uint8_t> bytes(std::size_t count);

  /// Random numbers mixed with edge values: zeros, the smallest and largest subnormal and normal
  /// numbers, infinities, NaNs, and ties in the rounding to narrower types.
  [[nodiscard]] std::vector<float> edge_floats(std::size_t count);
  [[nodiscard]] std::vector<double> edge_doubles(std::size_t count);
  /// Words of two 16-bit floats each: random bits mixed with edge values.
  [[nodiscard]] std::vector<std::uint32_t> edge_halves(std::size_t count);
  /// Integers: random bits mixed with zeros, all ones, powers of two and their neighbours.
  [[nodiscard]] std::vector<std::uint32_t> words(std::size_t count);
  [[nodiscard]] std::vector<std::uint64_t> wide_words(std::size_t count);

  /// Words of two random 16-bit floats each, with `mantissa_bits` bits of mantissa and biased
  /// exponents from `lowest` to `highest`.
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
[[nodiscard]] std::vector<AgreementCase> cluster_cases();

}  // namespace evo::agreement
