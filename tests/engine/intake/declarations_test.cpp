#include "engine/intake/declarations.hpp"

#include <gtest/gtest.h>

namespace evo {
namespace {

Declarations read(const std::string& text) { return declarations_of({"k.cu", text, {}}); }

TEST(Declarations, ParametersWithTypesAndNames) {
  const Declarations found = read(
      "// __global__ void comment(int a);\n"
      "#define K __global__ void macro(int a)\n"
      "extern \"C\" __global__ void __launch_bounds__(256, 2)\n"
      "scale(const float* __restrict__ x, float *y /* out */, unsigned int n, ns::T<a, b> t,\n"
      "      int table[3], float = 2.f) { y[0] = x[0]; }\n");
  ASSERT_EQ(found.kernels.size(), 1U);
  const DeclaredKernel& kernel = found.kernels[0];
  EXPECT_EQ(kernel.name, "scale");
  EXPECT_FALSE(kernel.is_template);
  ASSERT_EQ(kernel.parameters.size(), 6U);
  EXPECT_EQ(kernel.parameters[0].type, "const float *");
  EXPECT_EQ(kernel.parameters[0].name, "x");
  EXPECT_EQ(kernel.parameters[1].name, "y");
  EXPECT_EQ(kernel.parameters[2].type, "unsigned int");
  EXPECT_EQ(kernel.parameters[3].name, "t");
  EXPECT_EQ(kernel.parameters[4].type, "int *");
  EXPECT_EQ(kernel.parameters[5].type, "float");
  EXPECT_EQ(kernel.parameters[5].name, "");
}

TEST(Declarations, AKernelThatBeginsInTwoWays) {
  const Declarations found = read(
      "#if B > 0\n__global__ void __launch_bounds__(B) heat(\n#else\n"
      "extern \"C\" __global__ void heat(\n#endif\n    float *x, const int n) {}\n");
  ASSERT_EQ(found.kernels.size(), 1U);
  EXPECT_EQ(found.kernels[0].name, "heat");
  ASSERT_EQ(found.kernels[0].parameters.size(), 2U);
  EXPECT_EQ(found.kernels[0].parameters[1].name, "n");
}

TEST(Declarations, NamespacesTemplatesAndDefinitionsAfterDeclarations) {
  const Declarations found = read(
      "namespace a::b { __global__ void f(float*); struct S { int g; };\n"
      "__global__ void f(float* out) {} }\n"
      "using namespace std;\n"
      "template <class T, int N = (1 > 0)>\n__global__ void t(T* p) {}\n"
      "__global__ void last(void) {}\n");
  ASSERT_EQ(found.kernels.size(), 3U);
  EXPECT_EQ(found.kernels[0].name, "a::b::f");
  EXPECT_EQ(found.kernels[0].parameters.at(0).name, "out");
  EXPECT_EQ(found.kernels[1].name, "t");
  EXPECT_TRUE(found.kernels[1].is_template);
  EXPECT_FALSE(found.kernels[2].is_template);
  EXPECT_TRUE(found.kernels[2].parameters.empty());
}

TEST(Declarations, Constants) {
  const Declarations found = read(
      "__constant__ float filter[33*33]; //large enough\n"
      "static __device__ __constant__ unsigned int a[2][N] = {{1, 2}, {3}}, b;\n"
      "namespace ns { __constant__ int c{4}; }\n");
  ASSERT_EQ(found.constants.size(), 4U);
  EXPECT_EQ(found.constants[0].name, "filter");
  EXPECT_EQ(found.constants[0].type, "float");
  EXPECT_EQ(found.constants[0].extent, "33*33");
  EXPECT_EQ(found.constants[1].type, "unsigned int");
  EXPECT_EQ(found.constants[1].extent, "(2)*(N)");
  EXPECT_EQ(found.constants[2].name, "b");
  EXPECT_EQ(found.constants[2].extent, "1");
  EXPECT_EQ(found.constants[3].name, "ns::c");
}

TEST(Declarations, WhatEndsInTheMiddleIsNoTrouble) {
  for (const char* text : {"__global__", "__global__ void f(", "template <", "__constant__ float",
                           "namespace", "__constant__", "__global__ void f(int a, ("}) {
    EXPECT_LE(read(text).kernels.size(), 1U) << text;
  }
}

TEST(Declarations, EnumerationsByEitherName) {
  const Declarations found = read(
      "typedef enum { kA = 0, kB } mode_t;\nenum class Kind : int { kX };\nenum plain { kY };\n"
      "namespace n { enum struct Inner { kZ }; }\nenum { kNameless };\n"
      "__global__ void f(mode_t mode) {}\n");
  EXPECT_EQ(found.enumerations, (std::set<std::string>{"Inner", "Kind", "mode_t", "plain"}));
  ASSERT_EQ(found.kernels.size(), 1U);
}

}  // namespace
}  // namespace evo
