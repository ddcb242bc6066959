// Test cases of approximate instructions: each result of the virtual GPU must be within the
// instruction's documented error.
#include <algorithm>
#include <limits>

#include "tests/agreement/cases.hpp"

namespace evo::agreement {
namespace {

constexpr const char* kSource = "tests/agreement/kernels/approximations.cu";
constexpr std::size_t kCount = 1536;
constexpr LaunchConfig kLaunch = {{6, 1, 1}, {256, 1, 1}};

// For each instruction, the largest error that the PTX ISA 9.0 allows (section on floating-point
// instructions), plus the virtual GPU's own error: half a unit in the last place for rounding, or
// for ex2 the error of a real GPU. The real and the virtual GPU may flush results below the
// smallest normal number to zero.
constexpr double kSmallest = 0x1p-126;
constexpr Bound kEx2{2 * 0x1p-22, kSmallest};
constexpr Bound kLg2{0x1p-22 + 0x1p-24, 0x1p-22 + 0x1p-24};
constexpr Bound kRcp{0x1p-23 + 0x1p-24, kSmallest};
constexpr Bound kRsqrt{0x1.13p-23 + 0x1p-24, 0};  // 2^-22.9
constexpr Bound kSqrt{0x1p-23 + 0x1p-24, kSmallest};
constexpr Bound kSine{0, 0x1.6ap-21 + 0x1p-24};  // 2^-20.5, absolute, up to 2 pi
constexpr Bound kTanh{0x1p-11 + 0x1p-24, kSmallest};
constexpr Bound kDivision{2 * 0x1p-23 + 0x1p-24, kSmallest};
constexpr Bound kEx2Half{0x1.12p-10 + 0x1p-11, 0x1p-24};  // 2^-9.9
constexpr Bound kTanhHalf{0, 0x1.03p-11 + 0x1p-12};       // 2^-10.987
constexpr Bound kEx2Bfloat{0x1p-7 + 0x1p-8, kSmallest};
constexpr Bound kTanhBfloat{0, 0x1p-8 + 0x1p-9};

/// `values` with its first elements replaced by zeros, infinities, NaN, subnormal numbers and ±1.
std::vector<float> with_edges(std::vector<float> values) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> edges = {0.0F,      -0.0F,      kInfinity,   -kInfinity, kNan,
                                    0x1p-149F, -0x1p-140F, 0x1.8p-127F, 1.0F,       -1.0F};
  std::ranges::copy(edges, values.begin());
  return values;
}

AgreementCase unary(const char* entry, const std::vector<float>& in, std::vector<Bound> columns) {
  const std::size_t outputs = columns.size() * in.size();
  return AgreementCase{entry, kSource, kLaunch}
      .in(with_edges(in))
      .out(outputs, Dtype::kF32, std::move(columns))
      .count(in.size());
}

/// Numbers of all magnitudes that are not negative, and NaN.
std::vector<float> positive(Inputs& inputs) {
  std::vector<float> values = inputs.edge_floats(kCount);
  for (float& v : values) v = v < 0 ? -v : v;
  return values;
}

/// Numbers of moderate size, so that the quotient of any two of them is a normal number.
std::vector<float> moderate(Inputs& inputs) {
  std::vector<float> values = inputs.floats(kCount, -1000, 1000);
  for (std::size_t i = 0; i < values.size(); i += 3) values[i] *= 0x1p-40F;
  return values;
}

}  // namespace

std::vector<AgreementCase> approximation_cases() {
  Inputs inputs("approximations");
  std::vector<AgreementCase> cases;
  cases.push_back(unary("approximate_ex2", inputs.floats(kCount, -127, 127.9), {kEx2, kEx2}));
  cases.push_back(unary("approximate_lg2", positive(inputs), {kLg2, kLg2}));
  cases.push_back(unary("approximate_rcp", inputs.floats(kCount, -99, 99), {kRcp, kRcp}));
  cases.push_back(unary("approximate_rsqrt", positive(inputs), {kRsqrt, kRsqrt}));
  cases.push_back(unary("approximate_sqrt", positive(inputs), {kSqrt, kSqrt}));
  cases.push_back(unary("approximate_sin_cos", inputs.floats(kCount, -6.28, 6.28), {kSine, kSine}));
  cases.push_back(unary("approximate_tanh", inputs.floats(kCount, -6, 6), {kTanh}));
  cases.push_back(AgreementCase{"approximate_division", kSource, kLaunch}
                      .in(moderate(inputs))
                      .in(moderate(inputs))
                      .out(3 * kCount, Dtype::kF32, {kDivision, kDivision, kDivision})
                      .count(kCount));
  // In f16, biased exponents from 9 to 18 are values from 2^-6 to 2^3.
  cases.push_back(AgreementCase{"approximate_f16", kSource, kLaunch}
                      .in(inputs.half_pairs(kCount, 10, 9, 18))
                      .out(4 * kCount, Dtype::kF16, {kEx2Half, kEx2Half, kTanhHalf, kTanhHalf})
                      .count(kCount));
  cases.push_back(
      AgreementCase{"approximate_bf16", kSource, kLaunch}
          .in(inputs.half_pairs(kCount, 7, 121, 130))
          .out(4 * kCount, Dtype::kBf16, {kEx2Bfloat, kEx2Bfloat, kTanhBfloat, kTanhBfloat})
          .count(kCount));
  return cases;
}

}  // namespace evo::agreement
