// Tests PTX that compilers do not write, for example with too few operands or very deep nesting.
// Such PTX may lead to a fault, but never crashes, hangs or exhausts the host.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "engine/device/virtual/execute/cta.hpp"
#include "tests/engine/device/virtual/test_gpu.hpp"

namespace evo::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr const char* kHead = ".version 8.0\n.target sm_90\n.address_size 64\n";

/// PTX of a kernel k without parameters; the kernel's body begins in line 6 if `before` is empty.
std::string kernel(const std::string& body, const std::string& before = "") {
  return kHead + before + ".visible .entry k()\n{\n" + body + "\nret;\n}\n";
}

std::string fault_of(const std::string& ptx, const LaunchConfig& config = {{1, 1, 1}, {32, 1, 1}}) {
  TestGpu gpu("virtual:h200");
  const auto fault = gpu.run(ptx, "k", config, {});
  return fault ? fault->reason : "";
}

TEST(PtxLimits, NamesTheLineOfAnInstructionWithTooFewOperands) {
  for (const char* opcode :
       {"bar.warp.sync", "activemask.b32", "movmatrix.sync.aligned.m8n8.trans.b16",
        "barrier.red.popc.u32", "mbarrier.init.shared.b64", "mbarrier.expect_tx.shared.b64",
        "cp.async.mbarrier.arrive.shared.b64", "setp.eq.u32", "cvt.u32.u64", "mov.b32",
        "ld.shared.b32", "atom.shared.add.u32", "mbarrier.arrive.shared.b64", "shfl.sync.idx.b32",
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16", "prmt.b32", "lop3.b32"}) {
    EXPECT_THAT(fault_of(kernel(std::string(opcode) + ";")), HasSubstr("at line 6")) << opcode;
  }
}

TEST(PtxLimits, MatrixMovesNeedEveryLane) {
  const std::string head =
      ".reg .b32 %r<8>;\n.shared .align 16 .b8 tile[1024];\n"
      "mov.u32 %r1, tile;\nmov.u32 %r2, 0;\n";
  for (const char* opcode : {"ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r2,%r3,%r4,%r5}, [%r1];",
                             "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r2}, [%r1];",
                             "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r1], {%r2};",
                             "movmatrix.sync.aligned.m8n8.trans.b16 %r3, %r2;"}) {
    EXPECT_THAT(fault_of(kernel(head + opcode), {{1, 1, 1}, {40, 1, 1}}),
                AllOf(HasSubstr("needs all 32 lanes of warp 1"), HasSubstr("PTX line 10")))
        << opcode;
  }
}

TEST(PtxLimits, InitialisersAreNotNestedWithoutEnd) {
  const std::string ptx = kernel("", ".global .b8 a[4] = " + std::string(1'000'000, '{') + "\n");
  EXPECT_THAT(fault_of(ptx), HasSubstr("more than 16 nested braces"));
}

TEST(PtxLimits, ScopesAreNotNestedWithoutEnd) {
  const std::string open(60'000, '{');
  const std::string close(60'000, '}');
  EXPECT_THAT(fault_of(kernel(open + close)), HasSubstr("more than 256 nested braces"));
}

TEST(PtxLimits, ManyLiteralsAreLoadedQuickly) {
  std::string body = ".reg .b32 %r<2>;\nmov.u32 %r1, 0;\n";
  for (int i = 0; i < 60'000; ++i) body += "add.u32 %r1, %r1, " + std::to_string(i) + ";\n";
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(fault_of(kernel(body)), "");
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  EXPECT_LT(seconds.count(), 20);
}

/// PTX of functions f0, f1, … that each call the next function twice; the last contains `last`.
std::string doubling(int functions, const std::string& last) {
  std::string text;
  for (int i = functions; i >= 0; --i) {
    const std::string call = "call f" + std::to_string(i + 1) + ", ();\n";
    text += ".func f" + std::to_string(i) + "()\n{\n" + (i == functions ? last : call + call) +
            "ret;\n}\n";
  }
  return text;
}

TEST(PtxLimits, InliningEnds) {
  const auto start = std::chrono::steady_clock::now();
  EXPECT_THAT(fault_of(kernel("call f0, ();", doubling(30, ""))), HasSubstr("calls when all"));
  EXPECT_THAT(fault_of(kernel("call f0, ();", doubling(3, "call f0, ();\n"))),
              HasSubstr("recursion"));
  EXPECT_EQ(fault_of(kernel("call f0, ();", doubling(5, ""))), "");
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  EXPECT_LT(seconds.count(), 10);
}

TEST(PtxLimits, RegistersEnd) {
  EXPECT_THAT(fault_of(kernel("call f0, ();", doubling(6, ".reg .b32 %r<1000000>;\n"))),
              HasSubstr("more than 1048576 registers"));
  EXPECT_THAT(fault_of(kernel(".reg .b32 %r<1048577>;")), HasSubstr("at line 6"));
}

TEST(PtxLimits, VariablesEnd) {
  EXPECT_THAT(fault_of(kernel(".shared .b8 a[200000];\n.shared .b8 b[200000];")),
              AllOf(HasSubstr("shared variable 'b' of 200000 bytes"), HasSubstr("at line 7")));
  EXPECT_THAT(fault_of(kernel(".reg .b32 %r<2>;\n.local .b8 a[400000];\n.local .b8 b[400000];\n"
                              "mov.u32 %r1, a;\nmov.u32 %r1, b;")),
              AllOf(HasSubstr("local variable 'b' of 400000 bytes"), HasSubstr("at line 8")));
  EXPECT_THAT(fault_of(kernel("", ".global .b8 a[200000000];\n.global .b8 b[200000000];\n")),
              HasSubstr("the variables of the module are larger"));
  EXPECT_THAT(fault_of(kernel("", ".global .v4 .b128 a[268435456][268435456];\n")),
              AllOf(HasSubstr("variable 'a' is larger than"), HasSubstr("at line 4")));
}

TEST(PtxLimits, ANameStandsForOneVariable) {
  EXPECT_THAT(fault_of(kernel("", ".global .b32 a;\n.global .b32 a;\n")),
              HasSubstr("'a' is defined twice"));
  EXPECT_THAT(fault_of(kernel("", ".global .b32 a;\n.shared .b32 a;\n")),
              HasSubstr("'a' is defined twice"));
  EXPECT_EQ(fault_of(kernel("", ".extern .global .b32 a;\n.global .b32 a;\n")), "");
}

TEST(PtxLimits, AnAccessHasAtMost256Bits) {
  EXPECT_THAT(fault_of(kernel(".reg .b128 %q<9>;\n.reg .b64 %rd<2>;\nst.global.v8.b128 [%rd1], "
                              "{%q1,%q2,%q3,%q4,%q5,%q6,%q7,%q8};")),
              AllOf(HasSubstr("more than 256 bits"), HasSubstr("at line 8")));
}

TEST(PtxLimits, OffsetsAreNumbersThatCanBeAdded) {
  const std::string most = "+4611686018427387904";
  EXPECT_THAT(fault_of(kernel(".reg .b64 %rd<2>;\nld.global.b64 %rd1, [%rd1" + most + most + "];")),
              HasSubstr("at line 7"));
}

TEST(PtxLimits, ACtaKnowsItsMemory) {
  ptx::Program program;
  program.local_bytes = 1000;
  program.register_bytes = 12800;
  ptx::LaunchContext launch;
  launch.program = &program;
  launch.block = {64, 1, 1};
  EXPECT_EQ(ptx::cta_bytes(launch), 64U * 1000 * 2 + 2 * 12800 * 5 / 4);
}

TEST(PtxLimits, AnEndlessLoopThatChangesACounterEnds) {
  EXPECT_THAT(fault_of(kernel(R"(
.reg .b32 %r<3>;
.reg .b64 %rd<2>;
mov.u64 %rd1, counter;
LOOP:
membar.gl;
atom.global.add.u32 %r1, [%rd1], 2;
bra LOOP;)",
                              ".global .align 4 .u32 counter;\n"),
                       {{4, 1, 1}, {32, 1, 1}}),
              AllOf(HasSubstr("livelock"), HasSubstr("flags, locks or counters"),
                    HasSubstr("at PTX line")));
}

TEST(PtxLimits, MoreHostThreadsThanTheHostCanStartAreNotStarted) {
  TestGpu gpu("virtual:h200", {.threads = 1'000'000});
  EXPECT_EQ(gpu.run(kernel(""), "k", {{300'000, 1, 1}, {32, 1, 1}}, {}), std::nullopt);
}

}  // namespace
}  // namespace evo::test
