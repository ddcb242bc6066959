#include <gtest/gtest.h>

#include <cmath>

#include "engine/core/random.hpp"
#include "engine/device/virtual/arithmetic/mma_numerics.hpp"
#include "engine/device/virtual/arithmetic/small_floats.hpp"
#include "tests/engine/device/virtual/nvrtc.hpp"
#include "tests/engine/device/virtual/test_gpu.hpp"
#include "tests/engine/device/virtual/wgmma_source.hpp"

// Compares the wgmma products of wgmma_variants() with simple loops over the matrices.

namespace evo::test {
namespace {

using U8 = std::uint8_t;

constexpr std::size_t kRows = 64;

/// A matrix, as the bytes of its elements and as values.
struct Matrix {
  std::vector<U8> bytes;
  std::vector<float> values;
};

Matrix random_matrix(Random& random, std::size_t count, const std::string& type) {
  Matrix m;
  for (std::size_t i = 0; i < count; ++i) {
    const auto value = static_cast<float>(random.normal());
    if (type == "e4m3" || type == "e5m2") {
      const U8 byte = type == "e4m3" ? ptx::float_to_e4m3(value) : ptx::float_to_e5m2(value);
      m.bytes.push_back(byte);
      m.values.push_back(type == "e4m3" ? ptx::e4m3_to_float(byte) : ptx::e5m2_to_float(byte));
      continue;
    }
    const std::uint16_t word =
        type == "f16" ? ptx::float_to_half(value) : ptx::float_to_bfloat(value);
    m.bytes.push_back(static_cast<U8>(word));
    m.bytes.push_back(static_cast<U8>(word >> 8));
    m.values.push_back(type == "f16" ? ptx::half_to_float(word) : ptx::bfloat_to_float(word));
  }
  return m;
}

class Wgmma : public testing::TestWithParam<WgmmaVariant> {
 protected:
  void SetUp() override {
    if (!has_nvrtc()) GTEST_SKIP() << "no NVRTC here";
  }
};

TEST_P(Wgmma, PutsEveryElementInItsPlace) {
  const WgmmaVariant& v = GetParam();
  const std::string types = v.types;
  const std::size_t dot = types.find('.');
  const auto n = static_cast<std::size_t>(v.n);
  const auto k = static_cast<std::size_t>(v.steps * 32 / element_bytes(v));
  Random random(3);
  const Matrix a = random_matrix(random, kRows * k, types.substr(0, dot));
  const Matrix b = random_matrix(random, n * k, types.substr(dot + 1));
  std::vector<float> c(kRows * n);
  for (float& value : c) value = static_cast<float>(random.normal());

  TestGpu gpu("virtual:h200");
  const BufferId d = gpu.output<float>("d", kRows * n);
  const KernelArgument third = v.adds ? KernelArgument(gpu.input("c", c))
                                      : KernelArgument(ScalarArgument::of(std::uint64_t{0}));
  ASSERT_EQ(text_of(gpu.run(compile_to_ptx(wgmma_source(v), "compute_90a"), "product",
                            {.grid = {1, 1, 1}, .block = {128, 1, 1}},
                            {gpu.input("a", a.bytes), gpu.input("b", b.bytes), third, d})),
            "");
  const auto got = gpu.read<float>(d, kRows * n);
  const bool narrow = element_bytes(v) == 1;
  for (std::size_t i = 0; i < got.size(); ++i) {
    double want = v.adds ? static_cast<double>(c[i]) : 0;
    double largest = std::abs(want);
    for (std::size_t e = 0; e < k; ++e) {
      const double term = static_cast<double>(a.values[i / n * k + e]) *
                          static_cast<double>(b.values[i % n * k + e]) * v.scale_a * v.scale_b;
      want += term;
      largest = std::max({largest, std::abs(term), std::abs(want)});
    }
    // Each of the k terms and a few roundings of the sum may lose one unit of the sum's last bit.
    const double unit = std::exp2(narrow ? -13 : -23) * 2 * largest;
    EXPECT_NEAR(static_cast<double>(got[i]), want, static_cast<double>(k + 8) * unit)
        << "row " << i / n << " column " << i % n;
  }
}

INSTANTIATE_TEST_SUITE_P(Layouts, Wgmma, testing::ValuesIn(wgmma_variants()),
                         [](const auto& test) { return std::string(test.param.name); });

struct Refusal {
  const char* name;
  std::string before;  ///< text in the PTX of the first variant, which `after` replaces
  std::string after;
  const char* why;
};

class WgmmaRefusal : public testing::TestWithParam<Refusal> {};

TEST_P(WgmmaRefusal, SaysWhatIsNotSupported) {
  if (!has_nvrtc()) GTEST_SKIP() << "no NVRTC here";
  std::string ptx = compile_to_ptx(wgmma_source(wgmma_variants()[0]), "compute_90a");
  ASSERT_NE(ptx.find(GetParam().before), std::string::npos);
  ptx.replace(ptx.find(GetParam().before), GetParam().before.size(), GetParam().after);
  TestGpu gpu("virtual:h200");
  const BufferId buffer = gpu.output<float>("d", 16);
  const auto fault = gpu.run(ptx, "product", {.grid = {1, 1, 1}, .block = {128, 1, 1}},
                             {buffer, buffer, buffer, buffer});
  ASSERT_TRUE(fault);
  EXPECT_TRUE(fault->reason.starts_with("not supported: wgmma.")) << fault->reason;
  EXPECT_NE(fault->reason.find(GetParam().why), std::string::npos) << fault->reason;
}

INSTANTIATE_TEST_SUITE_P(Spellings, WgmmaRefusal,
                         testing::Values(Refusal{"target", "sm_90a", "sm_90", "needs sm_90a"},
                                         Refusal{"f16_result", ".f32.f16.f16", ".f16.f16.f16",
                                                 "only f32 results"},
                                         Refusal{"tf32", ".m64n64k16.f32.f16.f16",
                                                 ".m64n64k8.f32.tf32.tf32", "m64n64k8"},
                                         Refusal{"n", ".m64n64k16", ".m64n60k16", "m64n60k16"}),
                         [](const auto& test) { return std::string(test.param.name); });

/// In a sum of fp8 products, wgmma loses bits that are more than 13 bits below the largest term;
/// mma.sync on an H200 keeps them.
TEST(WgmmaNumerics, E4m3SumsKeepThirteenBits) {
  const auto numerics = ptx::mma_numerics("sm_90a");
  EXPECT_EQ(numerics.wgmma_fp8.step, 32);
  std::vector<float> a(16 * 32, 0.0F), b(32 * 8, 0.0F), c(128, 0.0F), d(128);
  a[0] = 256, b[0] = 16;         // product 2^12, so the last bit of the sum is 2^-1
  a[31] = 1, b[31 * 8] = 0.75F;  // product 0.75, which is truncated to 0.5
  ptx::mma_tile(numerics.wgmma_fp8, 32, -6, false, a.data(), b.data(), c.data(), d.data());
  EXPECT_EQ(d[0], 4096.5F);
  c[0] = 0.25F;  // lost even alone, because each term is truncated before the sum
  ptx::mma_tile(numerics.wgmma_fp8, 32, -6, false, a.data(), b.data(), c.data(), d.data());
  EXPECT_EQ(d[0], 4096.5F);
  ptx::mma_tile(numerics.fp8, 32, -6, false, a.data(), b.data(), c.data(), d.data());
  EXPECT_EQ(d[0], 4097.0F);
}

}  // namespace
}  // namespace evo::test
