#include "engine/ptx/parameters.hpp"

#include <gtest/gtest.h>

#include <string>

namespace evo {
namespace {

/// The type and size in bytes of each parameter of kernel `symbol`, such as ".u64 8, .f32 4";
/// "none" if there is no such kernel or its parameters cannot be read. `list`: the parameter list
/// of kernel k.
std::string parameters_in(const std::string& list, const std::string& symbol = "k") {
  const std::string ptx = ".version 8.0\n// .entry\n.visible .entry kk(\n\t.param .u16 a\n)\n{}\n" +
                          std::string(".visible .entry k(") + list + ")\n.maxntid 32\n{\n}\n";
  const auto parameters = parameters_of(ptx, symbol);
  if (!parameters) return "none";
  std::string text;
  for (const PtxParameter& parameter : *parameters) {
    text += (text.empty() ? "" : ", ") + parameter.type + " " + std::to_string(parameter.bytes);
  }
  return text;
}

TEST(PtxParameters, AreReadAsTheCompilerDeclaresThem) {
  EXPECT_EQ(parameters_in("\n\t.param .u64 k_param_0,\n\t.param .f32 k_param_1\n"),
            ".u64 8, .f32 4");
  EXPECT_EQ(parameters_in(".param .u64 .ptr .global .align 4 a, .param .align 8 .b8 b[24]"),
            ".u64 8, .b8 24");
  EXPECT_EQ(parameters_in(".param .align 2 .b8 h[2] /* , */"), ".b8 2");
  EXPECT_EQ(parameters_in(""), "");
  EXPECT_EQ(parameters_in("\n"), "");
  EXPECT_EQ(parameters_in(".param .u64 a", "kk"), ".u16 2");
}

TEST(PtxParameters, WhatIsNotUnderstoodIsNotGuessed) {
  EXPECT_EQ(parameters_in(".param .u64 a", "other"), "none");
  for (const char* list : {".reg .u64 a", ".param a", ".param .u64 a[", ".param .u64 a[x]",
                           ".param .pred a", ".param .u64 a,", ","}) {
    EXPECT_EQ(parameters_in(list), "none") << list;
  }
  EXPECT_FALSE(parameters_of(".entry k(.param .u64 a", "k"));
}

}  // namespace
}  // namespace evo
