// Tests CTAs that run on several host threads and access the same memory. The build with the thread
// sanitizer also runs this test.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/engine/device/virtual/test_gpu.hpp"

namespace evo::test {
namespace {

constexpr VirtualOptions kThreads{.threads = 4};

std::string module(const std::string& body) {
  return ".version 8.0\n.target sm_80\n.address_size 64\n"
         ".visible .entry k(.param .u64 data, .param .u64 flag)\n{\n"
         ".reg .pred %p<4>;\n.reg .b16 %h<4>;\n.reg .b32 %r<16>;\n.reg .b64 %rd<8>;\n"
         "ld.param.u64 %rd1, [data];\nld.param.u64 %rd2, [flag];\n"
         "mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %tid.x;\n" +
         body + "\nret;\n}\n";
}

/// A device with `words` words of data and one flag, all zero.
struct Fixture {
  explicit Fixture(std::size_t words, VirtualOptions options = kThreads)
      : gpu("virtual:l4", options),
        data(gpu.inout("data", std::vector<std::uint32_t>(words))),
        flag(gpu.inout("flag", std::vector<std::uint32_t>(1))) {}
  std::string run(const std::string& body, std::uint32_t ctas) {
    const auto fault = gpu.run(module(body), "k", {{ctas, 1, 1}, {64, 1, 1}}, {data, flag});
    return fault ? fault->reason : "";
  }
  double predicted_us(const std::string& body, std::uint32_t ctas) {
    const auto loaded = gpu.device().load({.ptx = module(body), .cubin = {}, .entries = {"k"}});
    const std::vector<KernelArgument> arguments = {data, flag};
    return std::get<double>(gpu.device().predicting()->predict_us(
        std::get<KernelId>(loaded), {{ctas, 1, 1}, {64, 1, 1}, 0}, arguments));
  }
  TestGpu gpu;
  BufferId data;
  BufferId flag;
};

TEST(GridThreads, AKernelThatRacesLeavesOneOfTheValues) {
  Fixture fixture(4);
  fixture.gpu.device().interpreting()->set_checks(false);  // checks would report the race
  // Every CTA repeatedly stores its index + 1 as words, 16-bit halves and vectors at the same
  // address, and reads them.
  const std::string body = R"(
add.u32 %r3, %r1, 1;
mul.lo.u32 %r3, %r3, 0x10001;
cvt.u16.u32 %h1, %r3;
mov.u32 %r4, 0;
LOOP:
st.global.u32 [%rd1], %r3;
st.global.v4.u32 [%rd1], {%r3, %r3, %r3, %r3};
st.global.u16 [%rd1+2], %h1;
ld.global.v4.u32 {%r5, %r6, %r7, %r8}, [%rd1];
ld.volatile.global.u16 %h2, [%rd1+6];
red.global.add.u32 [%rd2], 1;
add.u32 %r4, %r4, 1;
setp.lt.u32 %p1, %r4, 50;
@%p1 bra LOOP;)";
  EXPECT_EQ(fixture.run(body, 16), "");
  EXPECT_EQ(fixture.gpu.read<std::uint32_t>(fixture.flag, 1)[0], 16U * 64 * 50);
  for (const std::uint16_t half : fixture.gpu.read<std::uint16_t>(fixture.data, 8)) {
    EXPECT_GE(half, 1);
    EXPECT_LE(half, 16);
  }
}

TEST(GridThreads, WhatWasWrittenBeforeAFlagIsThereAfterIt) {
  // CTA 0 writes data, executes a fence and sets the flag; the other CTAs wait for the flag and
  // copy the data.
  const std::string body = R"(
mul.wide.u32 %rd3, %r2, 4;
add.s64 %rd4, %rd1, %rd3;
setp.ne.u32 %p1, %r1, 0;
@%p1 bra WAIT;
add.u32 %r3, %r2, 1000;
st.global.u32 [%rd4], %r3;
membar.gl;
bar.sync 0;
setp.ne.u32 %p2, %r2, 0;
@%p2 bra DONE;
st.volatile.global.u32 [%rd2], 1;
bra DONE;
WAIT:
ld.volatile.global.u32 %r4, [%rd2];
setp.eq.u32 %p3, %r4, 0;
@%p3 bra WAIT;
membar.gl;
ld.global.u32 %r5, [%rd4];
mul.wide.u32 %rd5, %r1, 256;
add.s64 %rd6, %rd4, %rd5;
st.global.u32 [%rd6], %r5;
DONE:)";
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    Fixture fixture(64 * 6, {.threads = 4, .seed = seed});
    EXPECT_EQ(fixture.run(body, 6), "");
    const auto data = fixture.gpu.read<std::uint32_t>(fixture.data, 64 * 6);
    for (std::size_t i = 0; i < data.size(); ++i) EXPECT_EQ(data[i], 1000 + i % 64) << i;
  }
}

/// CTA 0 stores 1000 + i with thread i, and thread 0 then sets the flag; the other CTAs wait for
/// the flag and copy what they read. All accesses are volatile. Returns where a read was unordered.
std::string run_messages(const std::string& fence, std::uint64_t seed, int threads,
                         std::vector<std::uint32_t>& copied) {
  Fixture fixture(64 * 6, {.threads = threads, .seed = seed});
  EXPECT_EQ(fixture.run(R"(
mul.wide.u32 %rd3, %r2, 4;
add.s64 %rd4, %rd1, %rd3;
setp.ne.u32 %p1, %r1, 0;
@%p1 bra WAIT;
add.u32 %r3, %r2, 1000;
st.volatile.global.u32 [%rd4], %r3;
)" + fence + R"(
bar.sync 0;
setp.ne.u32 %p2, %r2, 0;
@%p2 bra DONE;
st.volatile.global.u32 [%rd2], 1;
bra DONE;
WAIT:
ld.volatile.global.u32 %r4, [%rd2];
setp.eq.u32 %p3, %r4, 0;
@%p3 bra WAIT;
ld.volatile.global.u32 %r5, [%rd4];
mul.wide.u32 %rd5, %r1, 256;
add.s64 %rd6, %rd4, %rd5;
st.global.u32 [%rd6], %r5;
DONE:)",
                        6),
            "");
  copied = fixture.gpu.read<std::uint32_t>(fixture.data, 64 * 6);
  return fixture.gpu.device().interpreting()->unordered_read();
}

TEST(GridThreads, AStoreWithoutAFenceMayComeAfterTheFlag) {
  for (const int threads : {1, 4}) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      std::vector<std::uint32_t> copied;
      EXPECT_EQ(run_messages("membar.gl;", seed, threads, copied), "");
      for (std::size_t i = 0; i < copied.size(); ++i) EXPECT_EQ(copied[i], 1000 + i % 64) << i;
      EXPECT_THAT(run_messages("", seed, threads, copied),
                  testing::HasSubstr("ld.volatile.global.u32"));
      EXPECT_THAT(copied, testing::Contains(0U));
    }
  }
}

TEST(GridThreads, ManyCtasThatWaitForAFlagNobodySetsAreALivelock) {
  // Some of the CTAs take short turns, in which a warp executes few instructions.
  Fixture fixture(64, {.threads = 1, .stall_budget = 100'000});
  EXPECT_THAT(fixture.run(R"(
WAIT:
ld.volatile.global.u32 %r4, [%rd2];
setp.eq.u32 %p3, %r4, 0;
@%p3 bra WAIT;)",
                          24),
              testing::HasSubstr("livelock"));
  EXPECT_LT(fixture.gpu.device().statistics().warp_instructions, 50'000'000U);
}

TEST(GridThreads, ThePredictedTimeOfClaimedWorkDoesNotDependOnThem) {
  // The threads claim items 0 to 999; item i takes i loops. The distribution of the items decides
  // the time of the longest CTA.
  const std::string body = R"(
CLAIM:
atom.global.add.u32 %r3, [%rd2], 1;
setp.ge.u32 %p1, %r3, 1000;
@%p1 bra DONE;
LOOP:
sub.u32 %r3, %r3, 1;
setp.gt.s32 %p2, %r3, 0;
@%p2 bra LOOP;
bra CLAIM;
DONE:)";
  std::set<double> times;
  for (const int threads : {1, 2, 4, 8, 8, 8, 8, 8, 8, 8, 8, 8}) {
    Fixture fixture(4, {.threads = threads});
    times.insert(fixture.predicted_us(body, 12));
  }
  EXPECT_EQ(times.size(), 1U) << testing::PrintToString(times);
}

TEST(GridThreads, MemoryNobodyWroteIsMarkedByAllOfThem) {
  TestGpu gpu("virtual:l4", kThreads);
  const BufferId data = gpu.output<std::uint32_t>("data", 64);
  const BufferId flag = gpu.inout("flag", std::vector<std::uint32_t>(1));
  const std::string body = R"(
mul.wide.u32 %rd3, %r2, 4;
add.s64 %rd4, %rd1, %rd3;
ld.global.u32 %r3, [%rd4];
st.global.u32 [%rd4], %r2;
ld.global.u32 %r5, [%rd4];)";
  const auto fault = gpu.run(module(body), "k", {{32, 1, 1}, {64, 1, 1}}, {data, flag});
  // The virtual GPU may report a race, but no other fault.
  EXPECT_THAT(fault ? fault->reason : "race between CTAs", testing::HasSubstr("race between CTAs"));
  EXPECT_THAT(gpu.read<std::uint32_t>(data, 64), testing::Contains(63U));
}

TEST(GridThreads, ReportsOfManyCtasAreOneReport) {
  Fixture fixture(4);
  const std::string reason = fixture.run("st.global.u32 [%rd1+4096], %r1;", 64);
  EXPECT_THAT(reason, testing::HasSubstr("out-of-bounds"));
  EXPECT_THAT(reason, testing::Not(testing::HasSubstr("more)")));
}

}  // namespace
}  // namespace evo::test
