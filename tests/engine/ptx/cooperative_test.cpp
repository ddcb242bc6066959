#include "engine/ptx/cooperative.hpp"

#include <gtest/gtest.h>

namespace evo {
namespace {

TEST(CooperativeKernel, TheOneThatReadsTheWorkspace) {
  const char* ptx =
      ".visible .entry first(\n.param .u64 a\n)\n{ mov.u32 %r1, %envreg2; }\n"
      ".visible .entry second(.param .u64 a) { mov.u32 %r1, %envreg10; ret; }\n"
      ".entry third\n{ ret; }";
  EXPECT_TRUE(is_cooperative(ptx, "first"));
  EXPECT_FALSE(is_cooperative(ptx, "second"));
  EXPECT_FALSE(is_cooperative(ptx, "third"));
  EXPECT_FALSE(is_cooperative(ptx, "fir"));
}

TEST(CooperativeKernel, AFunctionBesideItCounts) {
  const char* ptx =
      ".entry a() { call sync; }\n.func sync() { mov.u32 %r1, %envreg1;}\n.entry b() { ret; }";
  EXPECT_TRUE(is_cooperative(ptx, "a"));
  EXPECT_TRUE(is_cooperative(ptx, "b"));
}

TEST(CooperativeKernel, TextThatIsNoPtx) {
  for (const char* text : {"", ".entry", ".func", "%envreg", ".entry .entry .func", "%envreg12"})
    EXPECT_FALSE(is_cooperative(text, "k")) << text;
}

}  // namespace
}  // namespace evo
