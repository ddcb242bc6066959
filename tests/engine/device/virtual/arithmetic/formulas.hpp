#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <random>

#include "tests/engine/device/virtual/test_gpu.hpp"

// Compares PTX instructions with formulas in C++, for random operands and edge cases.

namespace evo::test {

using U32 = std::uint32_t;
using Words = std::vector<U32>;

inline constexpr std::size_t kOperands = 512;

/// Executes `line`, which computes %r4 from %r1, %r2 and %r3 (the same bits: %f1, %f2), once for
/// each element of the operands.
inline Words results_of(const std::string& line, const Words& a, const Words& b, const Words& c) {
  TestGpu gpu("virtual:h200");
  const std::vector<KernelArgument> arguments = {
      gpu.input("a", a), gpu.input("b", b), gpu.input("c", c), gpu.output<U32>("out", a.size())};
  const std::string ptx =
      ".version 8.0\n.target sm_90\n.address_size 64\n"
      ".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 out)\n"
      "{\n.reg .pred %p<2>;\n.reg .b32 %r<8>;\n.reg .f32 %f<4>;\n.reg .b64 %rd<8>;\n"
      "ld.param.u64 %rd1, [a];\nld.param.u64 %rd2, [b];\nld.param.u64 %rd3, [c];\n"
      "ld.param.u64 %rd4, [out];\nmov.u32 %r5, %tid.x;\nmul.wide.u32 %rd5, %r5, 4;\n"
      "add.s64 %rd1, %rd1, %rd5;\nadd.s64 %rd2, %rd2, %rd5;\nadd.s64 %rd3, %rd3, %rd5;\n"
      "add.s64 %rd4, %rd4, %rd5;\nld.global.u32 %r1, [%rd1];\nld.global.u32 %r2, [%rd2];\n"
      "ld.global.u32 %r3, [%rd3];\nmov.b32 %f1, %r1;\nmov.b32 %f2, %r2;\n" +
      line + "\nst.global.u32 [%rd4], %r4;\nret;\n}\n";
  const auto threads = static_cast<U32>(a.size());
  EXPECT_EQ(text_of(gpu.run(ptx, "k", {{1, 1, 1}, {threads, 1, 1}}, arguments)), "") << line;
  return gpu.read<U32>(std::get<BufferId>(arguments[3]), a.size());
}

/// Random words of all magnitudes, and edge cases.
inline Words random_words(std::mt19937& random) {
  static const Words kEdges = {
      0,           1,           0x7fffffffU, 0x80000000U, 0xffffffffU, 0x00ff00ffU, 0xff00ff00U,
      0x80008000U, 0x7fff7fffU, 0x7f800000U, 0xff800000U, 0x7fc00000U, 0xffc00000U, 0x00800000U,
      0x007fffffU, 0x80000001U, 0x3f800000U, 0xbf800000U, 31,          32,          33,
      255,         256,         0xffffff80U, 0xffff8000U, 0x7c00fc00U, 0x3c00bc00U, 0x03ff8001U,
      0x7e01fe00U, 0x00010400U, 0x7bfffbffU, 0x3f81bf80U};
  Words words;
  for (std::size_t i = 0; i < kOperands; ++i) {
    const U32 word = static_cast<U32>(random());
    words.push_back(i % 3 == 0   ? kEdges[word % kEdges.size()]
                    : i % 3 == 1 ? word
                                 : word >> (random() % 32));
  }
  return words;
}

/// The value of an f16, from its definition.
inline double value_of_half(U32 half) {
  const int exponent = static_cast<int>(half >> 10 & 31U);
  const int mantissa = static_cast<int>(half & 1023U);
  double value =
      exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
  if (exponent == 31) value = mantissa == 0 ? HUGE_VAL : std::nan("");
  return (half & 0x8000U) != 0 ? -value : value;
}
inline double value_of_bfloat(U32 bits) { return double{std::bit_cast<float>(bits << 16)}; }

using Formula = std::function<U32(U32, U32, U32)>;

/// Expects `line` to compute what `formula` computes from the operands.
inline void expect_formula(const std::string& line, const Formula& formula) {
  std::mt19937 random(7);
  const Words a = random_words(random);
  const Words b = random_words(random);
  const Words c = random_words(random);
  const Words results = results_of(line, a, b, c);
  for (std::size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(results[i], formula(a[i], b[i], c[i]))
        << line << std::hex << " of " << a[i] << " " << b[i] << " " << c[i];
  }
}

}  // namespace evo::test
