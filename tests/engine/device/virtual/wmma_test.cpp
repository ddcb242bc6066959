#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <functional>

#include "engine/core/random.hpp"
#include "engine/device/virtual/arithmetic/small_floats.hpp"
#include "tests/engine/device/virtual/nvrtc.hpp"
#include "tests/engine/device/virtual/test_gpu.hpp"

// Compares kernels of kernels/wmma.cu with simple loops over the matrices.

namespace evo::test {
namespace {

struct Sizes {
  std::size_t m;
  std::size_t n;
  std::size_t k;
  bool is_by_rows;  ///< whether B is row-major
};

class Wmma : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_nvrtc() || !std::filesystem::exists(std::string(EVO_CUDA_INCLUDE_DIR) + "/mma.h")) {
      GTEST_SKIP() << "NVRTC or the header mma.h is missing";
    }
  }
  static const std::string& ptx() {
    static const std::string text = compile_to_ptx(kernel_source("wmma.cu"), "compute_89",
                                                   {std::string("-I") + EVO_CUDA_INCLUDE_DIR});
    return text;
  }

  /// Launches a kernel of kernels/wmma.cu and returns the matrix D.
  template <typename Ab, typename C>
  std::vector<C> product(const char* entry, const Sizes& s, const std::vector<Ab>& a,
                         const std::vector<Ab>& b, const std::vector<C>& c) {
    const BufferId d = gpu_.output<C>("d", s.m * s.n);
    EXPECT_EQ(text_of(gpu_.run(ptx(), entry, {.grid = {1, 1, 1}, .block = {32, 1, 1}},
                               {gpu_.input("a", a), gpu_.input("b", b), gpu_.input("c", c), d})),
              "");
    return gpu_.read<C>(d, s.m * s.n);
  }

  template <typename T>
  std::vector<T> drawn(std::size_t count, const std::function<T(double)>& make) {
    std::vector<T> values;
    for (std::size_t i = 0; i < count; ++i) values.push_back(make(random_.normal()));
    return values;
  }

  /// Element (i / n, i % n) of the product A B; `number` converts elements to numbers.
  template <typename Ab>
  static double sum(const Sizes& s, std::size_t i, const std::vector<Ab>& a,
                    const std::vector<Ab>& b, const std::function<double(Ab)>& number) {
    double total = 0;
    for (std::size_t k = 0; k < s.k; ++k) {
      const std::size_t column = i % s.n;
      total += number(a[i / s.n * s.k + k]) *
               number(b[s.is_by_rows ? k * s.n + column : column * s.k + k]);
    }
    return total;
  }

  template <typename T>
  void integers(const char* entry, const Sizes& s) {
    const std::function<T(double)> byte = [](double x) {
      return static_cast<T>(std::lround(x * 60));
    };
    const std::function<int(double)> word = [](double x) { return static_cast<int>(x * 1e6); };
    const auto a = drawn<T>(s.m * s.k, byte);
    const auto b = drawn<T>(s.k * s.n, byte);
    const auto c = drawn<int>(s.m * s.n, word);
    const auto d = product(entry, s, a, b, c);
    const std::function<double(T)> number = [](T x) { return static_cast<double>(x); };
    for (std::size_t i = 0; i < d.size(); ++i) {
      EXPECT_EQ(d[i], c[i] + static_cast<int>(sum(s, i, a, b, number))) << entry << " " << i;
    }
  }

  template <typename Ab, typename C>
  void reals(const char* entry, const Sizes& s, const std::function<Ab(double)>& make,
             const std::function<double(Ab)>& number, const std::function<C(double)>& make_c,
             const std::function<double(C)>& number_c, double bound) {
    const auto a = drawn<Ab>(s.m * s.k, make);
    const auto b = drawn<Ab>(s.k * s.n, make);
    const auto c = drawn<C>(s.m * s.n, make_c);
    const auto d = product(entry, s, a, b, c);
    for (std::size_t i = 0; i < d.size(); ++i) {
      const double want = number_c(c[i]) + sum(s, i, a, b, number);
      EXPECT_NEAR(number_c(d[i]), want, bound * (std::abs(want) + 4)) << entry << " " << i;
    }
  }

  TestGpu gpu_;
  Random random_{11};
};

TEST_F(Wmma, BytesInEveryShape) {
  integers<std::int8_t>("wmma_s8_16_16_col", {16, 16, 16, false});
  integers<std::int8_t>("wmma_s8_32_8_col", {32, 8, 16, false});
  integers<std::int8_t>("wmma_s8_8_32_col", {8, 32, 16, false});
  integers<std::uint8_t>("wmma_u8_8_32_row", {8, 32, 16, true});
}

TEST_F(Wmma, RealNumbersInEveryShape) {
  using HalfBits = std::uint16_t;
  const std::function<HalfBits(double)> half = [](double x) {
    return ptx::float_to_half(static_cast<float>(x));
  };
  const std::function<double(HalfBits)> of_half = [](HalfBits x) {
    return static_cast<double>(ptx::half_to_float(x));
  };
  const std::function<float(double)> real = [](double x) { return static_cast<float>(x); };
  const std::function<double(float)> of_real = [](float x) { return static_cast<double>(x); };
  reals<HalfBits, float>("wmma_f16_32_8_row", {32, 8, 16, true}, half, of_half, real, of_real,
                         2e-6);
  reals<HalfBits, float>("wmma_f16_8_32_col", {8, 32, 16, false}, half, of_half, real, of_real,
                         2e-6);
  reals<HalfBits, HalfBits>("wmma_f16_8_32_half", {8, 32, 16, true}, half, of_half, half, of_half,
                            2e-3);
  const std::function<HalfBits(double)> bfloat = [](double x) {
    return static_cast<HalfBits>(ptx::float_bits(static_cast<float>(x)) >> 16);
  };
  const std::function<double(HalfBits)> of_bfloat = [](HalfBits x) {
    return static_cast<double>(ptx::bfloat_to_float(x));
  };
  reals<HalfBits, float>("wmma_bf16_32_8_col", {32, 8, 16, false}, bfloat, of_bfloat, real, of_real,
                         2e-6);
  const std::function<double(float)> of_tf32 = [](float x) {
    return static_cast<double>(ptx::bits_float(ptx::float_bits(x) & 0xffffe000U));
  };
  reals<float, float>("wmma_tf32_16_16_row", {16, 16, 8, true}, real, of_tf32, real, of_real, 4e-6);
}

TEST_F(Wmma, DoublesByEitherInstruction) {
  const std::function<double(double)> same = [](double x) { return x; };
  reals<double, double>("wmma_f64_8_8_row", {8, 8, 4, true}, same, same, same, same, 1e-14);
  reals<double, double>("wmma_f64_8_8_col", {8, 8, 4, false}, same, same, same, same, 1e-14);
  reals<double, double>("mma_f64_8_8_4", {8, 8, 4, false}, same, same, same, same, 1e-14);
  reals<double, double>("mma_f64_16_8_8", {16, 8, 8, false}, same, same, same, same, 1e-14);
}

TEST_F(Wmma, OfDoublesThatNobodyWroteARowIsUnknown) {
  const BufferId a = gpu_.output<double>("a", 32);  // never written
  const auto fault =
      gpu_.run(ptx(), "wmma_f64_8_8_col", {.grid = {1, 1, 1}, .block = {32, 1, 1}},
               {a, gpu_.input("b", std::vector<double>(32)),
                gpu_.input("c", std::vector<double>(64)), gpu_.output<double>("d", 64)});
  EXPECT_NE(text_of(fault).find("uninitialised data"), std::string::npos) << text_of(fault);
}

TEST_F(Wmma, DataThatNobodyWroteAreFollowed) {
  const BufferId a = gpu_.output<std::int8_t>("a", 512);  // never written
  const BufferId d = gpu_.output<int>("d", 256);
  const auto fault = gpu_.run(ptx(), "wmma_s8_32_8_col", {.grid = {1, 1, 1}, .block = {32, 1, 1}},
                              {a, gpu_.input("b", std::vector<std::int8_t>(128)),
                               gpu_.input("c", std::vector<int>(256)), d});
  ASSERT_TRUE(fault);
  EXPECT_TRUE(fault->reason.starts_with("uninitialised data")) << fault->reason;
}

}  // namespace
}  // namespace evo::test
