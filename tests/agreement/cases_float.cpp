// Test cases of floating-point arithmetic and conversions: results must be equal bit for bit.
#include "tests/agreement/cases.hpp"

namespace evo::agreement {
namespace {

constexpr const char* kIeee = "tests/agreement/kernels/ieee.cu";
constexpr const char* kHalves = "tests/agreement/kernels/halves.cu";
constexpr const char* kConversions = "tests/agreement/kernels/conversions.cu";
constexpr std::size_t kCount = 320;
constexpr LaunchConfig kLaunch = {{2, 1, 1}, {160, 1, 1}};  // kCount threads

/// Adds the output and the element count to the case of a kernel that writes `columns` results for
/// each element.
AgreementCase& finish(AgreementCase& data, std::size_t columns, Dtype dtype) {
  return data.out(columns * kCount, dtype, std::vector<Bound>(columns)).count(kCount);
}

AgreementCase on_floats(const char* entry, std::size_t operands, std::size_t columns,
                        Dtype out = Dtype::kF32) {
  Inputs inputs(entry);
  AgreementCase data{entry, kIeee, kLaunch};
  for (std::size_t i = 0; i < operands; ++i) data.in(inputs.edge_floats(kCount));
  return finish(data, columns, out);
}

AgreementCase on_halves(const char* entry, std::size_t operands, std::size_t columns) {
  Inputs inputs(entry);
  AgreementCase data{entry, kHalves, kLaunch};
  for (std::size_t i = 0; i < operands; ++i) data.in(inputs.edge_halves(kCount));
  return finish(data, columns, Dtype::kU32);
}

AgreementCase converting(const char* entry, std::size_t columns, Dtype out) {
  Inputs inputs(entry);
  AgreementCase data{entry, kConversions, kLaunch};
  data.in(inputs.edge_floats(kCount));
  return finish(data, columns, out);
}

AgreementCase every_pattern(const char* entry, std::size_t columns, Dtype out) {
  constexpr std::size_t kPatterns = 65536;
  return AgreementCase{entry, kConversions, {{256, 1, 1}, {256, 1, 1}}}
      .out(columns * kPatterns, out, std::vector<Bound>(columns))
      .count(kPatterns);
}

}  // namespace

std::vector<AgreementCase> ieee_cases() {
  std::vector<AgreementCase> cases = {on_floats("ieee_add_mul", 2, 16),
                                      on_floats("ieee_fma", 3, 8),
                                      on_floats("ieee_division", 2, 8),
                                      on_floats("ieee_square_root", 1, 5),
                                      on_floats("ieee_min_max", 2, 10),
                                      on_floats("ieee_to_integral", 1, 6),
                                      on_floats("ieee_compare", 2, 1, Dtype::kU32)};
  Inputs inputs("ieee_double");
  AgreementCase doubles{"ieee_double", kIeee, kLaunch};
  for (int i = 0; i < 3; ++i) doubles.in(inputs.edge_doubles(kCount));
  cases.push_back(finish(doubles, 14, Dtype::kF64));
  return cases;
}

std::vector<AgreementCase> half_cases() {
  return {on_halves("half_arithmetic", 3, 12), on_halves("half_min_max", 2, 8),
          on_halves("bfloat_arithmetic", 3, 6)};
}

std::vector<AgreementCase> conversion_cases() {
  std::vector<AgreementCase> cases = {converting("convert_f32_to_16", 10, Dtype::kU32),
                                      converting("convert_f32_to_8", 4, Dtype::kU32),
                                      every_pattern("convert_from_16", 4, Dtype::kU32),
                                      every_pattern("convert_f16_to_8", 6, Dtype::kF16),
                                      converting("convert_f32_to_integers", 14, Dtype::kU64),
                                      converting("convert_f32_to_f64", 1, Dtype::kF64)};
  Inputs inputs("conversions");
  AgreementCase integers{"convert_integers_to_floats", kConversions, kLaunch};
  cases.push_back(finish(integers.in(inputs.wide_words(kCount)), 12, Dtype::kU64));
  AgreementCase doubles{"convert_doubles", kConversions, kLaunch};
  cases.push_back(finish(doubles.in(inputs.edge_doubles(kCount)), 9, Dtype::kU64));
  AgreementCase between{"convert_between_integers", kConversions, kLaunch};
  cases.push_back(finish(between.in(inputs.wide_words(kCount)), 8, Dtype::kU64));
  return cases;
}

}  // namespace evo::agreement
