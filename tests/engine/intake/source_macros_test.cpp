#include "engine/intake/source_macros.hpp"

#include <gtest/gtest.h>

namespace evo {
namespace {

SourceMacros read_macros(const std::string& text) { return macros_of({"k.cu", text, {}}); }

TEST(SourceMacros, DefaultsAndWhatNeedsAValue) {
  const SourceMacros found = read_macros(
      "#define WIDTH 4096\n"
      "#ifndef block_size_x\n    #define block_size_x 16\n#endif\n"
      "#if use_shuffle == 1\n#define stop 16\n#else\n#define stop 0\n#endif\n"
      "#ifdef VERBOSE\n#endif\n"
      "#if defined(FAST) && WIDTH > 3\n#endif\n");
  EXPECT_EQ(found.open.at("block_size_x").default_value, "16");
  EXPECT_EQ(found.open.at("block_size_x").line, 2U);
  EXPECT_FALSE(found.open.at("block_size_x").needs_value());
  EXPECT_TRUE(found.open.at("use_shuffle").needs_value());
  EXPECT_FALSE(found.open.at("VERBOSE").needs_value());
  EXPECT_FALSE(found.open.at("FAST").needs_value());
  EXPECT_FALSE(found.open.contains("WIDTH"));
  EXPECT_TRUE(found.defined.contains("WIDTH"));
  EXPECT_TRUE(found.defined.contains("stop"));
}

TEST(SourceMacros, WhatAComparedMacroIsMadeOfIsCompared) {
  const SourceMacros found = read_macros(
      "#define USE_CACHE read_only\n"
      "#define SUM(a, b) (a + b + EXTRA)\n"
      "#define LDG(x) __ldg(other)\n"
      "#if USE_CACHE == 1\n#elif SUM(1, 2) > 3\n#endif\n");
  EXPECT_TRUE(found.open.at("read_only").needs_value());
  EXPECT_TRUE(found.open.at("EXTRA").needs_value());
  EXPECT_FALSE(found.open.contains("a"));
  EXPECT_FALSE(found.open.contains("other"));
  EXPECT_FALSE(found.open.contains("USE_CACHE"));
}

TEST(SourceMacros, GuardsAndTheCompilersOwnNamesAreLeftOut) {
  KernelSource source{"k.cu",
                      "#include \"a.h\"\n#if __CUDA_ARCH__ >= 800 || defined(_MSC_VER)\n#endif\n"
                      "#if CUDART_VERSION < 4000 || defined(WIN32)\n#endif\n",
                      {{"a.h", "#ifndef A_H\n#define A_H\n#if TILE > 3\n#endif\n#endif\n"}}};
  const SourceMacros found = macros_of(source);
  ASSERT_EQ(found.open.size(), 1U);
  EXPECT_EQ(found.open.at("TILE").file, "a.h");
}

}  // namespace
}  // namespace evo
