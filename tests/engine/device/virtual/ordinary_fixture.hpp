#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "engine/core/random.hpp"
#include "tests/engine/device/virtual/nvrtc.hpp"
#include "tests/engine/device/virtual/test_gpu.hpp"

namespace evo::test {

using U32 = std::uint32_t;
using U64 = std::uint64_t;

inline const std::string& ordinary_ptx() {
  static const std::string text = compile_to_ptx(kernel_source("ordinary.cu"), "compute_89");
  return text;
}

class Ordinary : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_nvrtc()) GTEST_SKIP() << "no NVRTC here";
  }

  std::vector<int> integers(std::size_t count, int low, int high) {
    std::vector<int> values(count);
    for (int& v : values)
      v = low + static_cast<int>(random_.below(static_cast<U64>(high - low + 1)));
    return values;
  }
  std::vector<float> floats(std::size_t count, double low, double high) {
    std::vector<float> values(count);
    for (float& v : values) v = static_cast<float>(low + (high - low) * random_.uniform());
    return values;
  }
  void launch(const char* entry, std::array<U32, 3> grid, std::array<U32, 3> block,
              const std::vector<KernelArgument>& arguments, U32 shared = 0) {
    ASSERT_EQ(text_of(gpu_.run(ordinary_ptx(), entry, {grid, block, shared}, arguments)), "");
  }
  static KernelArgument n(std::size_t value) { return ScalarArgument::of(static_cast<int>(value)); }

  TestGpu gpu_;
  Random random_{7};
};

template <typename T>
std::vector<T> generate(std::size_t count, const std::function<T(std::size_t)>& value) {
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = value(i);
  return values;
}

inline void expect_close(const std::vector<float>& got, const std::vector<double>& want,
                         double relative, double absolute = 0) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    ASSERT_NEAR(static_cast<double>(got[i]), want[i], relative * std::abs(want[i]) + absolute)
        << "element " << i;
  }
}

}  // namespace evo::test
