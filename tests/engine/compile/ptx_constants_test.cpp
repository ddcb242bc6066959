#include "engine/compile/ptx_constants.hpp"

#include <gtest/gtest.h>

namespace evo {
namespace {

using Names = std::vector<std::string>;

/// As NVRTC writes it: two kernels, one of which reads a table by way of a function.
constexpr const char* kPtx = R"(
// .const .b8 comment[4];
.version 9.0
.target sm_89, debug
.address_size 64
.const .align 4 .b8 d_filter[16];
.const .align 4 .b8 Gx[36];  // demangled, the name of a type
.const .align 4 .b8 given[8] = {0, 0, 128, 63, 0, 0, 0, 64};
.const .align 4 .u32 _ZN1n1qE;
.const .align 4 .u32 _ZN29_INTERNAL_00000000_4_x_cu_zer1n2stE;
.global .u64 table[1] = {generic(behind)};
.const .u32 behind;
.const .u32 idle;
.func  (.param .b32 func_retval0) _Z4readv(
	.param .b64 _Z4readv_param_0
)
{
	ld.const.f32 	%f1, [d_filter+4];
	ret;
}
.visible .entry reads(
	.param .u64 reads_param_0
)
.maxntid 64, 1, 1
{
	{ call (retval0), _Z4readv, (param0); }
	ld.const.f32 	%f1, [given];
	ld.const.u32 	%r2, [_ZN29_INTERNAL_00000000_4_x_cu_zer1n2stE];
	ld.const.u32 	%r2, [_ZN1n1qE];
	ret;
}
.visible .entry indirect(
)
{
	mov.u64 	%rd1, table;
	ret;
}
.visible .entry nothing( .param .u64 idle_param )
{
	ret;
}
.section	.debug_str
{
$L__info_string0:
.b8 105,100,108,101
}
)";

TEST(UnsetConstants, AreThoseThatTheKernelReaches) {
  EXPECT_EQ(unset_constants(kPtx, "reads"), (Names{"n::q", "n::st", "d_filter"}));
  EXPECT_EQ(unset_constants(kPtx, "indirect"), Names{"behind"});
  EXPECT_TRUE(unset_constants(kPtx, "nothing").empty());
  EXPECT_TRUE(unset_constants(kPtx, "none").empty());
}

TEST(ConstantSymbol, APlainNameIsItsOwn) {
  EXPECT_EQ(constant_symbol(kPtx, "Gx"), "Gx");
  EXPECT_EQ(constant_symbol(kPtx, "n::q"), "_ZN1n1qE");
}

TEST(UnsetConstants, AnyTextIsRead) {
  for (const char* text : {".const", ".const .b8", ".const (", ".const {", "/* .const", "\".const",
                           ".target .const", ".version", ".const } ; = , (((", ".const .target"}) {
    EXPECT_TRUE(unset_constants(text, "k").empty()) << text;
  }
}

}  // namespace
}  // namespace evo
