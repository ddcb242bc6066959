#include "engine/ptx/variables.hpp"

#include <gtest/gtest.h>

namespace evo {
namespace {

using Names = std::vector<std::string>;

/// PTX in the format of NVRTC, with three kernels: `reads` reads constants directly and in a
/// function, `indirect` uses a table with the address of a constant, and `nothing` uses no
/// constants.
constexpr const char* kModule = R"(
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
  EXPECT_EQ(unset_constants(kModule, "reads"), (Names{"n::q", "n::st", "d_filter"}));
  EXPECT_EQ(unset_constants(kModule, "indirect"), Names{"behind"});
  EXPECT_TRUE(unset_constants(kModule, "nothing").empty());
  EXPECT_TRUE(unset_constants(kModule, "none").empty());
}

/// A variable is found by a short name such as "c" or "Dh", although these are also the mangled
/// names of the types char and half.
TEST(UnsetConstants, AVariableOfOneLetterIsNamedByIt) {
  for (const char* name : {"a", "b", "c", "d", "f", "i", "x", "Dh"}) {
    const std::string text = ".const .align 4 .b8 " + std::string(name) + "[16];\n.entry k()\n{\n" +
                             "ld.const.f32 %f1, [" + name + "];\n}\n";
    EXPECT_EQ(unset_constants(text, "k"), Names{name});
    EXPECT_EQ(constant_symbol(text, name), name);
  }
}

/// PTX of a kernel with the instructions `body`, and of two variables in device memory: table and
/// given.
std::string with_table(const std::string& body) {
  return ".version 9.0\n.target sm_89\n.address_size 64\n.visible .global .align 4 .b8 table[16];\n"
         ".global .align 4 .b8 given[4] = {1, 0, 0, 0};\n.visible .entry k(\n.param .u64 "
         "k_param_0\n)"
         "\n{\n" +
         body + "\nret;\n}\n";
}

TEST(VariablesOnlyRead, AreThoseThatNothingSets) {
  for (const char* body :
       {"ld.global.f32 %f1, [table+4];", "@%p1 ld.global.nc.v2.f32 {%f1, %f2}, [table];",
        "add.s64 %rd7, %rd6, %rd3;\n{\nld.global.f32 %f1, [%rd7];\n}\nst.global.f32 [%rd9], %f1;\n"
        "mov.u64 %rd5, table;\n@!%p2 cvta.global.u64 %rd6, %rd5;"}) {
    EXPECT_EQ(variables_only_read(with_table(body), "k"), Names{"table"}) << body;
  }
  EXPECT_TRUE(variables_only_read(with_table("ld.global.f32 %f1, [given];"), "k").empty());
  EXPECT_TRUE(variables_only_read(with_table("ld.global.f32 %f1, [table];"), "other").empty());
}

TEST(VariablesOnlyRead, AreNoneThatMayBeWritten) {
  const std::string read = "ld.global.f32 %f1, [table];\nmov.u64 %rd5, table;\n";
  for (const char* body :
       {"st.global.u32 [table+8], 5;", "add.s64 %rd6, %rd5, 8;\nst.global.f32 [%rd6], %f2;",
        "red.global.add.u32 [%rd5], 1;", "atom.global.add.u32 %r1, [table], 1;",
        "st.param.b64 [param0+0], %rd5;\ncall.uni f, (param0);", "mov.b64 {%r1, %r2}, %rd5;",
        "st.global.u64 [%rd9], %rd5;", ".loc 1 3 28\nst.global.u32 [table], 5;",
        ".loc 1 3 28 st.global.u32 [table], 5;", ".loc 1 3\nst.global.u32 [table], 5;",
        ".loc 2 80 3, function_name $L__info7, inlined_at 1 3 28\nst.global.u32 [table], 5;",
        ".loc 2 80 3, function_name $L__info+4, inlined_at 1 3 28\n.loc 1 1 1\n"
        "atom.global.add.u32 %r1, [table], 1;"}) {
    EXPECT_TRUE(variables_only_read(with_table(body + read), "k").empty()) << body;
    EXPECT_TRUE(variables_only_read(with_table(read + body), "k").empty()) << body;
  }
  // Variables do not count as only read if no instruction reads them, or if another variable
  // contains their address.
  EXPECT_TRUE(variables_only_read(with_table("mov.u64 %rd5, table;"), "k").empty());
  EXPECT_TRUE(
      variables_only_read(".global .u64 where[1] = {generic(table)};\n" + with_table(read), "k")
          .empty());
}

TEST(MayKeepVariables, OnesThatTheKernelMayWrite) {
  for (const char* body :
       {"st.global.u32 [table+8], 5;", "mov.u64 %rd5, table;\nred.global.add.u32 [%rd5], 1;",
        "mov.u64 %rd5, table;\nst.global.u64 [%rd9], %rd5;", "st.global.u32 [given], 5;"}) {
    EXPECT_TRUE(may_keep_variables(with_table(body), "k")) << body;
  }
  EXPECT_TRUE(may_keep_variables(
      ".global .u64 where[1] = {generic(table)};\n" + with_table("ld.global.f32 %f1, [table];"),
      "k"));
  const std::string called = ".func f\n()\n{\nst.global.u32 [table], 5;\nret;\n}\n";
  EXPECT_TRUE(may_keep_variables(called + with_table("call.uni f;"), "k"));
}

TEST(MayKeepVariables, NoneThatItOnlyReadsOrDoesNotUse) {
  for (const char* body : {"", "ld.global.f32 %f1, [table];", "ld.global.f32 %f1, [given];",
                           "st.global.u32 [%rd9], 5;"}) {
    EXPECT_FALSE(may_keep_variables(with_table(body), "k")) << body;
  }
  EXPECT_FALSE(may_keep_variables(with_table("st.global.u32 [table], 5;"), "other"));
}

TEST(ConstantSymbol, APlainNameIsItsOwn) {
  EXPECT_EQ(constant_symbol(kModule, "Gx"), "Gx");
  EXPECT_EQ(constant_symbol(kModule, "n::q"), "_ZN1n1qE");
}

TEST(UnsetConstants, AnyTextIsRead) {
  for (const char* text :
       {".const", ".const .b8", ".const (", ".const {", "/* .const", "\".const", ".target .const",
        ".version", ".loc", ".loc 1 2", ".loc 1 2 3 ,", ".const } ; = , (((", ".const .target"}) {
    EXPECT_TRUE(unset_constants(text, "k").empty()) << text;
    const std::string global = ".global" + std::string(text) + " @ ; @ ! ; { : @ %p";
    EXPECT_TRUE(variables_only_read(global, "k").empty()) << text;
  }
}

}  // namespace
}  // namespace evo
