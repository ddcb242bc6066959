#include "engine/ptx/source_lines.hpp"

#include <gtest/gtest.h>

#include "tests/engine/device/virtual/test_gpu.hpp"

// Tests which lines of the PTX and of the source the error messages of the virtual GPU name.

namespace evo::ptx {
namespace {

constexpr const char* kHead =
    ".version 8.0\n.target sm_89\n.address_size 64\n"
    ".visible .entry k(.param .u64 out)\n{\n"
    ".reg .b64 %rd<9>;\n.reg .b32 %r<9>;\n.reg .f32 %f<9>;\n";

std::string reason_of(const std::string& body) {
  test::TestGpu gpu;
  auto loaded = gpu.device().load({.ptx = kHead + body + "}\n", .cubin = {}, .entries = {"k"}});
  const auto* fault = std::get_if<Fault>(&loaded);
  return fault != nullptr ? fault->reason : "";
}

TEST(SourceLines, AChainOfInlinedFunctions) {
  CallSites sites;
  const SourcePosition kernel{1, 30, 5};
  const SourcePosition middle{2, 20, 3};
  sites.note(kernel, {1, 30});
  const int first = sites.index_of(kernel);
  sites.note(middle, {2, 20, first});
  const int second = sites.index_of(middle);
  EXPECT_EQ(sites.index_of(middle), second);
  const std::map<int, std::string> files = {{1, "kernel.cu"}, {2, "a/b.cuh"}, {3, "c.cuh"}};
  EXPECT_EQ(describe_source({3, 7, second}, files, sites.take()),
            "c.cuh:7, inlined at a/b.cuh:20, inlined at kernel.cu:30");
  EXPECT_EQ(describe_source({9, 7}, files, {}), "source:7");
}

TEST(SourceLines, WhatIsNotSupportedNamesLineSourceAndStatement) {
  EXPECT_EQ(reason_of(".loc 1 12 3\n.loc 2 5 1, function_name $L__info_string0, inlined_at 1 12 3\n"
                      "frob.u32 %r1,\n   %r2; ret;\n") +
                "",
            "not supported: frob.u32 at line 11, source:5, inlined at source:12: "
            "frob.u32 %r1, %r2; ret;");
  EXPECT_EQ(reason_of("mov.u32 %r1, %pm0;\nret;\n"),
            "not supported: special register %pm0 at line 9: mov.u32 %r1, %pm0;");
  EXPECT_EQ(reason_of("tex.3d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f1, %f1, %f1, %f1}];"),
            "not supported: tex.3d.v4.f32.f32 at line 9: tex.3d.v4.f32.f32 {%f1, %f2, %f3, %f4}, "
            "[%rd1, {%f1, %f1, %f1, %f1}];}");
  EXPECT_EQ(reason_of("suld.b.2d.b32.trap {%r2}, [%rd1, {%r1, %r1}];\n"),
            "not supported: suld.b.2d.b32.trap at line 9: suld.b.2d.b32.trap {%r2}, [%rd1, {%r1, "
            "%r1}];");
  EXPECT_EQ(reason_of("ld.global.u32 %r1, [%rd1, {%r1}];\n"),
            "not supported: ld.global.u32 (coordinates in an address) at line 9: ld.global.u32 "
            "%r1, [%rd1, {%r1}];");
  EXPECT_EQ(reason_of("call (%r1), %rd1, (%r2), prototype_0;\nprototype_0 : .callprototype "
                      "(.param .b32 _) _ (.param .b32 _);\nret;\n"),
            "not supported: call (indirect call) at line 9: call (%r1), %rd1, (%r2), prototype_0;");
}

TEST(SourceLines, WhatTheEntryCannotReachIsNoError) {
  EXPECT_EQ(reason_of("ret;\ntld4.r.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f1, %f2}];\n"
                      "call (%r1), %rd1, (%r2), prototype_0;\n"),
            "");
}

TEST(SourceLines, WhatCannotBeReadNamesItsLineAndItsText) {
  EXPECT_EQ(reason_of("ld.global.u32 %r1, [[[%rd1]]];\n"),
            "an address within an address at line 9: ld.global.u32 %r1, [[[%rd1]]];");
  EXPECT_EQ(with_statement(PtxError("bad", 99), "one line"), "bad at line 99");
  const std::string statement = with_statement(PtxError("bad", 1), std::string(500, 'x'));
  EXPECT_EQ(statement, "bad at line 1: " + std::string(200, 'x') + " …");
}

TEST(SourceLines, SystemCallsWithOtherParametersAreRefused) {
  EXPECT_EQ(reason_of(".param .b8 p0;\n.param .b64 p1;\ncall vprintf, (p0, p1);\nret;\n"),
            "call of 'vprintf': 'p0' is not an aligned .param variable of 8 bytes at line 11: call "
            "vprintf, (p0, p1);");
  EXPECT_EQ(reason_of("call vprintf, (out, out);\nret;\n"),
            "call of 'vprintf': 'out' is not an aligned .param variable of 8 bytes at line 9: call "
            "vprintf, (out, out);");
  EXPECT_EQ(
      reason_of("call vprintf;\nret;\n"),
      "call of 'vprintf' with the wrong number of parameters or results at line 9: call vprintf;");
}

}  // namespace
}  // namespace evo::ptx
