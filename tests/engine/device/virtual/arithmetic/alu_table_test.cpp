#include "engine/device/virtual/arithmetic/alu_table.hpp"

#include <cpuid.h>
#include <gtest/gtest.h>

namespace evo::ptx {
namespace {

TEST(SimdTarget, NeedsEachExtensionThatItsCodeUses) {
  constexpr CpuidWords kAll{.leaf_1_ecx = bit_FMA | bit_F16C | bit_POPCNT,
                            .leaf_7_ebx = bit_AVX2 | bit_BMI | bit_BMI2,
                            .extended_ecx = bit_LZCNT};
  EXPECT_TRUE(has_simd_target(kAll));
  for (const unsigned bit : {bit_FMA, bit_F16C, bit_POPCNT}) {
    CpuidWords words = kAll;
    words.leaf_1_ecx &= ~bit;
    EXPECT_FALSE(has_simd_target(words)) << "bit of leaf 1: " << bit;
  }
  for (const unsigned bit : {bit_AVX2, bit_BMI, bit_BMI2}) {
    CpuidWords words = kAll;
    words.leaf_7_ebx &= ~bit;
    EXPECT_FALSE(has_simd_target(words)) << "bit of leaf 7: " << bit;
  }
  CpuidWords words = kAll;
  words.extended_ecx = 0;
  EXPECT_FALSE(has_simd_target(words));
}

}  // namespace
}  // namespace evo::ptx
