#include "engine/ptx/outline.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace evo::ptx {
namespace {

using ::testing::ElementsAre;
using ::testing::IsSupersetOf;

/// PTX with an unknown instruction. The virtual GPU does not support it, but the outline has all
/// its functions and variables.
constexpr const char* kOutlined = R"(
.version 9.0
.target sm_90, debug
.address_size 64
.file 1 "x.cu"
.global .align 4 .u64 table[1] = {generic(f)};
.const .b8 zeros[4];
.func (.param .b32 result) f(.param .b32 in)
{
	{ mov.u32 %r1, %envreg2; ld.const.u32 %r2, [zeros]; }
}
.visible .entry k(.param .u64 .ptr .global .align 4 p)
.maxntid 64, 1, 1
.reqnctapercluster 2
{
	@%p1 bra $L;
$L:	mov.u64 %rd1, table;
	newopcode.shiny %rd1;
}
)";

TEST(Outline, KnowsFunctionsAndVariables) {
  const Outline outline(kOutlined);
  const auto& all = outline.declarations();
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[0].name, "table");
  EXPECT_EQ(all[0].kind, Declaration::Kind::kGlobal);
  EXPECT_TRUE(all[0].has_value);
  EXPECT_EQ(all[1].name, "zeros");
  EXPECT_EQ(all[1].kind, Declaration::Kind::kConstant);
  EXPECT_FALSE(all[1].has_value);
  EXPECT_EQ(all[2].name, "f");
  EXPECT_EQ(all[2].kind, Declaration::Kind::kFunction);
  EXPECT_THAT(all[2].names, ElementsAre("in", "%envreg2", "zeros"));
  EXPECT_EQ(all[3].name, "k");
  EXPECT_EQ(all[3].kind, Declaration::Kind::kEntry)
      << "`.global` among a kernel's parameters does not make it a variable";
  EXPECT_THAT(all[3].names, ElementsAre("p", "bra", "$L", "$L", "table"));
}

TEST(Outline, FollowsNamesThroughVariablesAndFunctions) {
  const Outline outline(kOutlined);
  EXPECT_THAT(outline.reached_from("k"), IsSupersetOf({"k", "table", "f", "zeros"}));
  EXPECT_THAT(outline.reached_from("zeros"), ElementsAre("zeros"));
}

}  // namespace
}  // namespace evo::ptx
