#include "engine/device/virtual/virtual_device.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>

#include "engine/core/error.hpp"
#include "engine/device/virtual/timing/counted_time.hpp"
#include "engine/device/virtual/timing/device_model.hpp"
#include "tests/engine/device/virtual/test_gpu.hpp"

namespace evo::test {
namespace {

// out[i] = in[i] + i for i < n, one element per thread.
constexpr const char* kAddIndex = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry add_index(.param .u64 in, .param .u64 out, .param .u32 n)
{
  .reg .pred %p<2>;
  .reg .b32 %r<8>;
  .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [in];
  ld.param.u64 %rd2, [out];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4;
  setp.ge.u32 %p1, %r5, %r1;
  @%p1 bra DONE;
  mul.wide.u32 %rd3, %r5, 4;
  add.s64 %rd4, %rd1, %rd3;
  ld.global.u32 %r6, [%rd4];
  add.s32 %r7, %r6, %r5;
  add.s64 %rd5, %rd2, %rd3;
  st.global.u32 [%rd5], %r7;
DONE:
  ret;
}
)";

std::vector<int> numbers(int count) {
  std::vector<int> values;
  for (int i = 0; i < count; ++i) values.push_back(3 * i);
  return values;
}

TEST(VirtualDevice, RunsEveryThreadOfTheGrid) {
  TestGpu gpu;
  const BufferId out = gpu.output<int>("out", 1000);
  EXPECT_EQ(text_of(gpu.run(kAddIndex, "add_index", {{4, 1, 1}, {256, 1, 1}, 0},
                            {gpu.input("in", numbers(1000)), out, ScalarArgument::of(1000)})),
            "");
  const auto got = gpu.read<int>(out, 1000);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(got[static_cast<std::size_t>(i)], 4 * i);
  EXPECT_EQ(gpu.device().statistics().ctas, 4U);
}

// Computes out[i] = i + 7. Thread 0 waits with a value in a register, while the other threads,
// which do not need this register any more, write predicates, 16- and 64-bit values.
constexpr const char* kLanesApart = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry lanes_apart(.param .u64 out)
{
  .reg .pred %p<12>;
  .reg .b16 %h<9>;
  .reg .b32 %r<16>;
  .reg .b64 %rd<12>;
  .shared .b32 flag;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  mov.u32 %r9, 0;
  st.volatile.shared.u32 [flag], %r9;
  bar.warp.sync -1;
  setp.ne.u32 %p1, %r1, 0;
  add.u32 %r2, %r1, 7;
  mul.lo.u32 %r3, %r1, 3;
  add.u32 %r4, %r1, 11;
  cvt.u64.u32 %rd4, %r2;
  @%p1 bra AHEAD;
SPIN:
  ld.volatile.shared.u32 %r5, [flag];
  setp.eq.u32 %p2, %r5, 0;
  @%p2 bra SPIN;
  sub.u32 %r6, %r4, %r3;
  sub.u32 %r6, %r6, 4;
  add.u32 %r6, %r6, %r2;
  cvt.u32.u64 %r7, %rd4;
  sub.u32 %r6, %r6, %r7;
  st.global.u32 [%rd3], %r6;
  bra END;
AHEAD:
  setp.gt.u32 %p3, %r1, 3;
  setp.gt.u32 %p4, %r1, 5;
  setp.gt.u32 %p5, %r1, 7;
  setp.gt.u32 %p6, %r1, 9;
  cvt.u16.u32 %h1, %r1;
  add.u16 %h2, %h1, 1;
  add.u16 %h3, %h1, 2;
  add.u16 %h4, %h1, 4;
  add.u16 %h5, %h2, %h3;
  add.u16 %h5, %h5, %h4;
  sub.u16 %h5, %h5, %h1;
  sub.u16 %h5, %h5, %h1;
  cvt.u64.u16 %rd6, %h5;
  mul.lo.u64 %rd7, %rd6, 5;
  sub.u64 %rd8, %rd7, %rd6;
  sub.u64 %rd8, %rd8, %rd6;
  sub.u64 %rd8, %rd8, %rd6;
  sub.u64 %rd8, %rd8, %rd6;
  cvt.u32.u64 %r10, %rd8;
  @%p3 add.u32 %r10, %r10, 0;
  @%p4 add.u32 %r10, %r10, 0;
  @%p5 add.u32 %r10, %r10, 0;
  @%p6 add.u32 %r10, %r10, 0;
  st.global.u32 [%rd3], %r10;
  mov.u32 %r11, 1;
  st.volatile.shared.u32 [flag], %r11;
END:
  ret;
}
)";

TEST(VirtualDevice, LanesThatRunAheadLeaveTheRegistersOfOthersAlone) {
  TestGpu gpu("virtual:l4", {.threads = 1, .checks = false});
  const BufferId out = gpu.output<int>("out", 32);
  EXPECT_EQ(text_of(gpu.run(kLanesApart, "lanes_apart", {{1, 1, 1}, {32, 1, 1}, 0}, {out})), "");
  const auto got = gpu.read<int>(out, 32);
  for (int i = 0; i < 32; ++i) EXPECT_EQ(got[static_cast<std::size_t>(i)], i + 7) << "lane " << i;
}

TEST(VirtualDevice, ABulkReductionIsNotSupportedAndSaysWhere) {
  const std::string ptx = R"(.version 8.0
.target sm_90a
.address_size 64
.visible .entry bulk(.param .u64 out)
{
  wgmma.fence.sync.aligned;
  cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [out], [0], 16;
  ret;
}
)";
  TestGpu gpu("virtual:h200");
  const BufferId out = gpu.output<int>("out", 1);
  const auto fault = gpu.run(ptx, "bulk", {{1, 1, 1}, {128, 1, 1}, 0}, {out});
  EXPECT_EQ(text_of(fault),
            "not supported: cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 at line 7: "
            "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [out], [0], 16;\n");
}

TEST(VirtualDevice, SamplesCtasAndLeavesTheRestUntouched) {
  TestGpu gpu;
  const BufferId out = gpu.inout("out", std::vector<int>(1024, -1));
  gpu.device().interpreting()->set_cta_sample({1, 3});
  EXPECT_EQ(text_of(gpu.run(kAddIndex, "add_index", {{4, 1, 1}, {256, 1, 1}, 0},
                            {gpu.input("in", numbers(1024)), out, ScalarArgument::of(1024)})),
            "");
  const auto got = gpu.read<int>(out, 1024);
  for (int i = 0; i < 1024; ++i)
    EXPECT_EQ(got[static_cast<std::size_t>(i)], i / 256 % 2 == 1 ? 4 * i : -1);
}

TEST(VirtualDevice, ReadingWhatNobodyWroteIsOnlyReportedWhenItReachesTheOutput) {
  TestGpu gpu;
  const BufferId out = gpu.output<int>("out", 64);
  const auto fault = gpu.run(kAddIndex, "add_index", {{1, 1, 1}, {64, 1, 1}, 0},
                             {gpu.output<int>("in", 64), out, ScalarArgument::of(64)});
  ASSERT_TRUE(fault);
  EXPECT_TRUE(fault->reason.starts_with("uninitialised data")) << fault->reason;
  EXPECT_NE(fault->reason.find("PTX line"), std::string::npos);
}

TEST(VirtualDevice, NamesTheBufferThatWasOverrun) {
  TestGpu gpu;
  const auto fault = gpu.run(
      kAddIndex, "add_index", {{1, 1, 1}, {128, 1, 1}, 0},
      {gpu.input("in", numbers(128)), gpu.output<int>("result", 100), ScalarArgument::of(128)});
  ASSERT_TRUE(fault);
  EXPECT_NE(fault->reason.find("write of 4 bytes by thread (100,0,0)"), std::string::npos)
      << fault->reason;
  EXPECT_NE(fault->reason.find("0 bytes past the end of 'result' (400 bytes)"), std::string::npos)
      << fault->reason;
}

TEST(VirtualDevice, RefusesLaunchesTheDeviceWouldRefuse) {
  TestGpu gpu;
  const std::vector<KernelArgument> arguments = {
      gpu.input("in", numbers(64)), gpu.output<int>("out", 64), ScalarArgument::of(64)};
  const auto reason = [&](const LaunchConfig& config, const std::vector<KernelArgument>& given) {
    const auto fault = gpu.run(kAddIndex, "add_index", config, given);
    return fault ? fault->reason : std::string();
  };
  EXPECT_NE(reason({{1, 1, 1}, {2048, 1, 1}, 0}, arguments).find("allowed: 1 to 1024 threads"),
            std::string::npos);
  EXPECT_NE(reason({{1, 1, 1}, {64, 1, 1}, 100 * 1024}, arguments)
                .find("bytes of shared memory, the limit is 101376"),
            std::string::npos);
  EXPECT_NE(reason({{0, 1, 1}, {64, 1, 1}, 0}, arguments).find("grid of"), std::string::npos);
  EXPECT_NE(
      reason({{1, 1, 1}, {64, 1, 1}, 0}, {arguments[0], arguments[1]}).find("has 3 parameters"),
      std::string::npos);
  EXPECT_NE(
      reason({{1, 1, 1}, {64, 1, 1}, 0}, {arguments[0], arguments[1], ScalarArgument::of(1.0)})
          .find("parameter 2 has 4 bytes"),
      std::string::npos);
  EXPECT_NE(text_of(gpu.run(kAddIndex, "other", {}, {}))
                .find("unknown entry 'other'; allowed: add_index"),
            std::string::npos);
}

TEST(VirtualDevice, PredictionLeavesMemoryAsItWas) {
  TestGpu gpu;
  const BufferId out = gpu.inout("out", std::vector<int>(1024, -1));
  auto loaded = gpu.device().load({.ptx = kAddIndex, .cubin = {}, .entries = {"add_index"}});
  const std::vector<KernelArgument> arguments = {gpu.input("in", numbers(1024)), out,
                                                 ScalarArgument::of(1024)};
  const auto predicted = gpu.device().predicting()->predict_us(
      std::get<KernelId>(loaded), {{4, 1, 1}, {256, 1, 1}, 0}, arguments);
  ASSERT_TRUE(std::holds_alternative<double>(predicted));
  EXPECT_GT(std::get<double>(predicted), 0);
  EXPECT_EQ(gpu.read<int>(out, 1024), std::vector<int>(1024, -1));
}

TEST(VirtualDevice, APredictionOfAFaultyLaunchIsItsFault) {
  TestGpu gpu;
  auto loaded = gpu.device().load({.ptx = kAddIndex, .cubin = {}, .entries = {"add_index"}});
  const std::vector<KernelArgument> beyond = {
      gpu.input("in", numbers(8)), gpu.output<int>("out", 1024), ScalarArgument::of(1024)};
  const auto predicted = gpu.device().predicting()->predict_us(std::get<KernelId>(loaded),
                                                               {{4, 1, 1}, {256, 1, 1}, 0}, beyond);
  ASSERT_TRUE(std::holds_alternative<Fault>(predicted));
  EXPECT_NE(std::get<Fault>(predicted).reason.find("out-of-bounds"), std::string::npos);
}

TEST(VirtualDevice, LaunchesBeyondTheKernelsBoundAreRefused) {
  TestGpu gpu;
  std::string bounded = kAddIndex;
  bounded.replace(bounded.find(".param .u32 n)"), 14, ".param .u32 n)\n.maxntid 64, 1, 1");
  const std::vector<KernelArgument> arguments = {
      gpu.input("in", numbers(128)), gpu.output<int>("out", 128), ScalarArgument::of(128)};
  EXPECT_EQ(text_of(gpu.run(bounded, "add_index", {{2, 1, 1}, {64, 1, 1}, 0}, arguments)), "");
  EXPECT_NE(text_of(gpu.run(bounded, "add_index", {{1, 1, 1}, {128, 1, 1}, 0}, arguments))
                .find("limits the kernel to 64"),
            std::string::npos);
}

TEST(VirtualDevice, AnUnknownModuleIsNotUnloaded) {
  EXPECT_THROW(open_virtual_device("virtual:l4")->unload(1000), InputError);
}

TEST(VirtualDevice, UnknownNamesListTheKnownOnes) {
  EXPECT_THROW((void)open_virtual_device("virtual:gtx"), InputError);
  for (const char* id : {"virtual:l4", "virtual:a100", "virtual:h200"}) {
    EXPECT_EQ(open_virtual_device(id)->info().id, id);
    EXPECT_EQ(open_virtual_device(id)->info().time_kind, TimeKind::kPredicted);
  }
}

// Thread 0 of each CTA writes register %rd9 to out[cta], and the previous value of the counter,
// which each CTA increments, to out[grid size + cta]. SEES is a placeholder for instructions that
// set %rd9, for example to a special register such as %smid.
constexpr const char* kLooksAround = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry looks_around(.param .u64 out, .param .u64 counter)
{
  .reg .pred %p<2>;
  .reg .b32 %r<12>;
  .reg .b64 %rd<12>;
  ld.param.u64 %rd1, [out];
  ld.param.u64 %rd2, [counter];
  mov.u32 %r1, %tid.x;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra DONE;
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %nctaid.x;
  SEES
  mul.wide.u32 %rd3, %r2, 8;
  add.s64 %rd4, %rd1, %rd3;
  st.global.u64 [%rd4], %rd9;
  mul.wide.u32 %rd5, %r3, 8;
  add.s64 %rd6, %rd4, %rd5;
  atom.global.add.u32 %r4, [%rd2], 1;
  cvt.u64.u32 %rd7, %r4;
  st.global.u64 [%rd6], %rd7;
DONE:
  ret;
}
)";

constexpr int kLookingCtas = 40;

/// Launches the kernel looks_around, with the instructions `sees` in place of SEES, twice. Returns
/// the outputs of both launches.
std::array<std::vector<std::uint64_t>, 2> seen_twice(const std::string& sees) {
  std::string ptx = kLooksAround;
  ptx.replace(ptx.find("SEES"), 4, sees);
  TestGpu gpu;
  std::array<std::vector<std::uint64_t>, 2> seen;
  for (auto& values : seen) {
    const BufferId out = gpu.output<std::uint64_t>("out", 2 * kLookingCtas);
    const BufferId counter = gpu.inout("counter", std::vector<std::uint32_t>{0});
    EXPECT_EQ(text_of(gpu.run(ptx, "looks_around", {{kLookingCtas, 1, 1}, {64, 1, 1}, 0},
                              {out, counter})),
              "");
    values = gpu.read<std::uint64_t>(out, 2 * kLookingCtas);
  }
  return seen;
}

TEST(VirtualDevice, WhatAKernelSeesOfTheMachineIsAnotherInEachLaunch) {
  for (const char* name : {"smid", "warpid", "gridid"}) {
    const auto seen = seen_twice(fmt::format("mov.u32 %r9, %{}; cvt.u64.u32 %rd9, %r9;", name));
    EXPECT_NE(std::vector(seen[0].begin(), seen[0].begin() + kLookingCtas),
              std::vector(seen[1].begin(), seen[1].begin() + kLookingCtas))
        << name;
  }
  for (const char* name : {"clock64", "globaltimer"}) {
    const auto seen = seen_twice(fmt::format("mov.u64 %rd9, %{};", name));
    EXPECT_GT(seen[0][0], std::uint64_t{1} << 32) << name << " begins near 0";
    EXPECT_GT(seen[1][0], seen[0][0] + 1000) << name << " stands still";
  }
}

TEST(VirtualDevice, CtasStartInAnotherOrderInEachLaunch) {
  const auto seen = seen_twice("mov.u64 %rd9, 0;");
  EXPECT_NE(seen[0], seen[1]);
}

// Stores y[i] = 1. FIRST and AFTER are placeholders for instructions before and after the store.
constexpr const char* kReadsBack = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry reads_back(.param .u64 y)
{
  .reg .b32 %r<8>;
  .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [y];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.s32 %r4, %r1, %r2, %r3;
  mul.wide.u32 %rd2, %r4, 4;
  add.s64 %rd3, %rd1, %rd2;
  FIRST
  mov.u32 %r5, 1;
  st.global.u32 [%rd3], %r5;
  AFTER
  ret;
}
)";

std::string read_back(const std::string& first, const std::string& after) {
  std::string ptx = kReadsBack;
  ptx.replace(ptx.find("FIRST"), 5, first);
  ptx.replace(ptx.find("AFTER"), 5, after);
  TestGpu gpu;
  return text_of(gpu.run(ptx, "reads_back", {{4, 1, 1}, {64, 1, 1}, 0},
                         {gpu.inout("y", std::vector<int>(256, 0))}));
}

TEST(VirtualDevice, ThePathForReadOnlyDataDoesNotSeeWhatTheLaunchWrote) {
  const std::string nc = "ld.global.nc.u32 %r6, [%rd3];";
  const std::string found = read_back("", nc);
  EXPECT_TRUE(found.starts_with("read-only load of data written in this launch")) << found;
  EXPECT_NE(found.find("of 'y'"), std::string::npos) << found;
  EXPECT_EQ(read_back(nc, ""), "") << "a read before the store is allowed";
  EXPECT_EQ(read_back("", "ld.global.u32 %r6, [%rd3];"), "");
}

}  // namespace
}  // namespace evo::test
