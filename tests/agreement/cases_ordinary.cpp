// Test cases of the kernels in ordinary.cu that are data-parallel or test arithmetic.
#include "tests/agreement/cases.hpp"

namespace evo::agreement {
namespace {

// Tolerances of mathematical functions, in units of the last place (2^-23): twice the error stated
// in the CUDA C++ Programming Guide, because the real and the virtual GPU may both have this error.
constexpr double kUlp = 0x1p-23;

AgreementCase ordinary(const char* entry, LaunchConfig launch) {
  return {entry, kOrdinarySource, launch};
}

std::vector<AgreementCase> linear_cases() {
  Inputs inputs("linear");
  std::vector<AgreementCase> cases;
  cases.push_back(ordinary("saxpy", {{4, 1, 1}, {256, 1, 1}})
                      .in(inputs.floats(1000, -2, 2))
                      .inout(inputs.floats(1000, -2, 2))
                      .scalar(1.5F)
                      .count(1000));
  // The kernel adds by atomics in varying order, so sums may differ by rounding.
  cases.push_back(ordinary("grid_stride_sum_square", {{3, 1, 1}, {128, 1, 1}})
                      .in(inputs.floats(5000, -1, 1))
                      .inout(std::vector<float>{0}, Dtype::kF32, {{.relative = 1e-5}})
                      .count(5000));
  cases.push_back(ordinary("transpose_padded", {{3, 3, 1}, {32, 8, 1}})
                      .in(inputs.floats(75 * 75, 0, 1))
                      .out(75 * 75, Dtype::kF32)
                      .count(75));
  for (const char* entry : {"gemm_naive", "gemm_tiled"})
    cases.push_back(ordinary(entry, {{3, 3, 1}, {16, 16, 1}})
                        .in(inputs.floats(37 * 37, -1, 1))
                        .in(inputs.floats(37 * 37, -1, 1))
                        .out(37 * 37, Dtype::kF32)
                        .count(37));
  cases.push_back(ordinary("stencil_halo", {{3, 1, 1}, {128, 1, 1}})
                      .in(inputs.floats(300, -1, 1))
                      .out(300, Dtype::kF32)
                      .count(300));
  cases.push_back(ordinary("vector_copy", {{1, 1, 1}, {64, 1, 1}})
                      .in(inputs.floats(256, -1, 1))
                      .out(256, Dtype::kF32)
                      .count(64));
  cases.push_back(ordinary("dynamic_shared", {{1, 1, 1}, {96, 1, 1}, 2 * 96 * 4})
                      .in(inputs.floats(96, -1, 1))
                      .out(96, Dtype::kF32)
                      .count(96));
  cases.push_back(ordinary("sparse_matrix_vector", {{1, 1, 1}, {32, 1, 1}})
                      .in(std::vector<int>{0, 2, 2, 5, 6})
                      .in(std::vector<int>{0, 3, 1, 2, 3, 0})
                      .in(inputs.floats(6, -9, 9))
                      .in(inputs.floats(4, -9, 9))
                      .out(4, Dtype::kF32)
                      .count(4));
  cases.push_back(
      ordinary("mandelbrot", {{4, 5, 1}, {16, 8, 1}}).out(60 * 40, Dtype::kU8).count(60).count(40));
  return cases;
}

std::vector<AgreementCase> reduction_cases() {
  Inputs inputs("reductions");
  std::vector<AgreementCase> cases;
  for (const char* entry : {"reduce_tree", "reduce_shuffle"})
    cases.push_back(ordinary(entry, {{4, 1, 1}, {256, 1, 1}})
                        .in(inputs.integers(1000, -50, 50))
                        .out(4, Dtype::kI32)
                        .count(1000));
  cases.push_back(ordinary("reduce_max_cooperative", {{8, 1, 1}, {256, 1, 1}})
                      .in(inputs.integers(4000, -5000, 5000))
                      .out(9, Dtype::kI32)
                      .count(4000));
  for (const char* entry : {"scan_block", "scan_warp_shuffle"})
    cases.push_back(ordinary(entry, {{1, 1, 1}, {256, 1, 1}})
                        .in(inputs.integers(256, -9, 9))
                        .out(256, Dtype::kI32)
                        .count(256));
  cases.push_back(ordinary("histogram_shared", {{5, 1, 1}, {256, 1, 1}})
                      .in(inputs.bytes(5000))
                      .inout(std::vector<std::uint32_t>(256, 0))
                      .count(5000));
  cases.push_back(ordinary("bytes_reverse", {{1, 1, 1}, {200, 1, 1}})
                      .in(inputs.bytes(200))
                      .out(200, Dtype::kU8)
                      .count(200));
  cases.push_back(ordinary("halves_rotate", {{1, 1, 1}, {200, 1, 1}})
                      .in(inputs.bytes(400))
                      .out(400, Dtype::kU8)
                      .count(200));
  return cases;
}

std::vector<AgreementCase> arithmetic_cases() {
  Inputs inputs("arithmetic");
  std::vector<AgreementCase> cases;
  cases.push_back(ordinary("bit_tricks", {{1, 1, 1}, {128, 1, 1}})
                      .in(inputs.words(100))
                      .out(800, Dtype::kU32)
                      .count(100));
  cases.push_back(ordinary("wide_integers", {{1, 1, 1}, {128, 1, 1}})
                      .in(inputs.wide_words(100))
                      .out(600, Dtype::kU64)
                      .count(100));
  cases.push_back(ordinary("integer_division", {{1, 1, 1}, {128, 1, 1}})
                      .in(inputs.integers(100, -100000, 100000))
                      .in(inputs.integers(100, 1, 120))
                      .out(400, Dtype::kI32)
                      .count(100));
  cases.push_back(ordinary("doubles", {{1, 1, 1}, {128, 1, 1}})
                      .in(inputs.doubles(100, 0.01, 1000))
                      .out(400, Dtype::kF64)
                      .count(100));
  const Bound two{4 * kUlp, 0x1p-126};
  cases.push_back(ordinary("special_functions", {{1, 1, 1}, {256, 1, 1}})
                      .in(inputs.floats(200, 0.05, 12))
                      .out(2000, Dtype::kF32,
                           {two,
                            two,
                            {4 * kUlp, 4 * kUlp},
                            {4 * kUlp, 4 * kUlp},
                            two,
                            {8 * kUlp, 0},
                            two,
                            {},
                            {4 * kUlp, 0},
                            {6 * kUlp, 0}})
                      .count(200));
  cases.push_back(
      ordinary("fast_functions", {{1, 1, 1}, {128, 1, 1}})
          .in(inputs.floats(100, 0.1, 6))
          .out(
              500, Dtype::kF32,
              {{2 * (2 + 1.16 * 6) * kUlp, 0}, {0x1p-20, 0x1p-20}, {0, 0x1p-19}, {4 * kUlp, 0}, {}})
          .count(100));
  cases.push_back(ordinary("rounding_modes", {{1, 1, 1}, {64, 1, 1}})
                      .in(inputs.floats(64, -4, 4))
                      .out(512, Dtype::kF32)
                      .count(64));
  cases.push_back(ordinary("conversions", {{1, 1, 1}, {64, 1, 1}})
                      .in(inputs.floats(64, -120, 120))
                      .out(384, Dtype::kI32)
                      .count(64));
  return cases;
}

}  // namespace

std::vector<AgreementCase> ordinary_cases() {
  std::vector<AgreementCase> all = linear_cases();
  for (auto* part : {reduction_cases, arithmetic_cases}) {
    for (AgreementCase& data : part()) all.push_back(std::move(data));
  }
  return all;
}

}  // namespace evo::agreement
