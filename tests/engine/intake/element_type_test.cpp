#include "engine/intake/element_type.hpp"

#include <gtest/gtest.h>

namespace evo {
namespace {

TEST(ElementType, OfCppTypes) {
  EXPECT_EQ(element_type("float const*").dtype, "f32");
  EXPECT_EQ(element_type("const unsigned char *").dtype, "u8");
  EXPECT_EQ(element_type("unsigned long").dtype, "u64");
  EXPECT_EQ(element_type("__half*").dtype, "f16");
  EXPECT_EQ(element_type("float4*").dtype, "f32");
  EXPECT_EQ(element_type("float4*").lanes, 4);
  EXPECT_EQ(element_type("float4*").bytes, 16U);
  EXPECT_EQ(element_type("__half2 const*").lanes, 2);
  EXPECT_EQ(element_type("__nv_bfloat162*").dtype, "bf16");
}

TEST(ElementType, NothingForOthers) {
  for (const char* type : {"float**", "Matrix*", "long double*", "", "int8192*", "void*"}) {
    EXPECT_EQ(element_type(type).dtype, "") << type;
  }
}

TEST(ElementType, OfT1Names) {
  EXPECT_EQ(t1_element_type("int32").dtype, "i32");
  EXPECT_EQ(t1_element_type("double4").lanes, 4);
  EXPECT_EQ(t1_element_type("float16").lanes, 16);
  EXPECT_EQ(t1_element_type("custom").dtype, "");
}

TEST(ElementType, IsAnIntegerByItsRow) {
  for (const char* type : {"i8", "u8", "i32", "u64"}) EXPECT_TRUE(is_integer_type(type)) << type;
  for (const char* type : {"f32", "e4m3", "bf16", "int", "u", "TODO: the type of x"}) {
    EXPECT_FALSE(is_integer_type(type)) << type;
  }
}

}  // namespace
}  // namespace evo
