// Tests kernels that read uninitialised outputs or keep state between launches, on a fake GPU and
// on the virtual GPU.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "engine/core/error.hpp"
#include "engine/device/virtual/virtual_device.hpp"
#include "tests/engine/gate/gate_fixture.hpp"

namespace evo::state_test {
namespace {

using fake::Launch;
using testing::AllOf;
using testing::HasSubstr;

constexpr int kX = 0;
constexpr int kY = 1;
constexpr int kScratch = 2;
constexpr int kN = 3;

std::string reason_of(const CorrectnessResult& result) {
  return result.rejection ? result.rejection->reason : "passed";
}

/// A kernel y[i] = f(y[i], 2 x[i] + 1), which is right if f returns its second argument.
fake::Kernel folded(const std::function<float(float, float)>& f) {
  return [f](const Launch& launch) {
    float* y = launch.buffer<float>(kY);
    for (int i = 0; i < launch.scalar<int>(kN); ++i) {
      y[i] = f(y[i], 2 * launch.buffer<float>(kX)[i] + 1);
    }
    return std::optional<Fault>();
  };
}

TEST(Uninitialised, EveryWayToFoldIntoAnOutputIsFound) {
  const std::map<std::string, std::function<float(float, float)>> folds = {
      {"fminf", [](float y, float v) { return std::fmin(y, v); }},
      {"fmaxf", [](float y, float v) { return std::fmax(y, v); }},
      {"less", [](float y, float v) { return y < v ? y : v; }},
      {"not_less", [](float y, float v) { return !(y < v) ? v : y; }},
      {"greater", [](float y, float v) { return y > v ? y : v; }},
      {"sum", [](float y, float v) { return y + v; }},
      {"sum_unless_NaN", [](float y, float v) { return std::isnan(y) ? v : y + v; }},
      {"if_NaN", [](float y, float v) { return std::isnan(y) ? v : y; }},
      {"if_zero", [](float y, float v) { return y == 0 ? v : y; }},
      {"if_not_finite", [](float y, float v) { return std::isfinite(y) ? y : v; }}};
  for (const auto& [name, fold] : folds) {
    for (const std::size_t seeds : {1, 2, 5}) {
      GateFixture fixture;
      EXPECT_NE(reason_of(fixture.check(fixture.load(name, folded(fold)), {.seeds = seeds})),
                "passed")
          << name << ", " << seeds << " seeds";
    }
  }
  GateFixture fixture;
  EXPECT_EQ(reason_of(fixture.check(
                fixture.load("honest", folded([](float, float v) { return v; })), {.seeds = 1})),
            "passed");
}

TEST(Uninitialised, LargeShapesWithOneSeedMeetEveryPoison) {
  GateFixture fixture;
  const auto minimum = [](const Launch& launch) {
    if (launch.scalar<int>(kN) == 33) return GateFixture::honest(launch);
    return folded([](float y, float v) { return std::fmin(y, v); })(launch);
  };
  EXPECT_THAT(reason_of(fixture.check(fixture.load("min", minimum), {.flops_for_all_seeds = 100})),
              HasSubstr("shape timed"));
}

TEST(WorkspaceMemory, WhatTheDeviceDoesNotHoldIsTheKernelsFault) {
  GateFixture fixture;
  fixture.device->set_memory_bytes(1 << 20);
  fixture.problem.templates.front().workspace.emplace("scratch", Expression("1e11"));
  const LoadedKernel kernel = fixture.load("large", GateFixture::honest);
  EXPECT_THAT(
      reason_of(fixture.check(kernel)),
      AllOf(HasSubstr("workspace does not fit into the device's memory"), HasSubstr("'scratch'")));
  const TimingResult timed =
      fixture.timing().time(kernel, fixture.problem.shape("timed"), [](const std::string&) {});
  ASSERT_TRUE(timed.rejection);
  EXPECT_THAT(timed.rejection->reason, HasSubstr("workspace does not fit"));
  // A kernel whose workspace does not fit into memory has no effect on the verdict about the next
  // kernel.
  fixture.problem.templates.front().workspace.clear();
  EXPECT_EQ(reason_of(fixture.check(fixture.load("honest", GateFixture::honest))), "passed");
}

TEST(WorkspaceMemory, DataThatDoNotFitAreNoFaultOfTheKernel) {
  GateFixture fixture;
  fixture.device->set_memory_bytes(1000);
  EXPECT_THROW((void)fixture.check(fixture.load("honest", GateFixture::honest)), DeviceMemoryError);
}

constexpr double kNoLimitMs = 1e9;

TEST(Aged, KernelsTimedTooSeldomAreLaunchedOften) {
  for (const int limit : {30, 500, 1900}) {
    GateFixture fixture;
    int launches = 0;
    const LoadedKernel kernel = fixture.load("tired", [&](const Launch& launch) {
      return launches++ < limit ? GateFixture::honest(launch) : std::optional<Fault>();
    });
    CorrectnessGate gate(*fixture.work, fixture.problem, fixture.made->cases, fixture.made->judge,
                         {});
    EXPECT_NE(reason_of(gate.check_aged(
                  kernel, {&fixture.problem.shape("timed"), &fixture.problem.shape("small")},
                  kAgedLaunches, kNoLimitMs, [](const std::string&) {})),
              "passed");
  }
}

TEST(Aged, KernelsThatBecomeSlowAreRejected) {
  for (const double last_us : {9.0, 500.0}) {
    GateFixture fixture;
    int graphs = 0;
    fixture.time_us = [&](const auto&, std::int64_t) { return ++graphs < 15 ? 5.0 : last_us; };
    CorrectnessGate gate(*fixture.work, fixture.problem, fixture.made->cases, fixture.made->judge,
                         {});
    const CorrectnessResult aged =
        gate.check_aged(fixture.load("k", GateFixture::honest), {&fixture.problem.shape("small")},
                        kAgedLaunches, kNoLimitMs, [](const std::string&) {});
    EXPECT_EQ(reason_of(aged),
              last_us < 10 ? "passed"
                           : "shape small: after many launches, a launch takes 500.0 µs instead of "
                             "5.0 µs");
  }
}

TEST(Aged, AFaultOrTooLittleMemoryIsTheReason) {
  const auto aged = [](GateFixture& fixture, const LoadedKernel& kernel) {
    CorrectnessGate gate(*fixture.work, fixture.problem, fixture.made->cases, fixture.made->judge,
                         {});
    return gate.check_aged(kernel, {&fixture.problem.shape("small")}, kAgedLaunches, kNoLimitMs,
                           [](const std::string&) {});
  };
  GateFixture fixture;
  int launches = 0;
  const auto faulty = aged(fixture, fixture.load("faulty", [&](const Launch& launch) {
    return launches++ < 700 ? GateFixture::honest(launch) : Fault{"illegal", "thread 3", true};
  }));
  EXPECT_THAT(reason_of(faulty), HasSubstr("illegal"));
  EXPECT_TRUE(faulty.device_lost);
  GateFixture small;
  (void)small.made->cases.get(small.problem.shape("small"), 0);
  small.device->set_memory_bytes(1000);
  small.problem.templates.front().workspace.emplace("scratch", Expression("1000"));
  EXPECT_THAT(reason_of(aged(small, small.load("large", GateFixture::honest))),
              HasSubstr("workspace does not fit"));
}

/// PTX of a kernel y = 2 x + 1 for the virtual GPU. The instructions in `first` run before the
/// store; they may count launches in the module variable `launches` and use the workspace, whose
/// address is %rd7.
std::string kernel(const std::string& first) {
  return R"(.version 8.0
.target sm_80
.address_size 64
.visible .global .align 4 .u32 launches;
.visible .entry line(.param .u64 x, .param .u64 y, .param .u64 scratch, .param .u32 n)
{
  .reg .pred %p<6>;
  .reg .b32 %r<12>;
  .reg .f32 %f<6>;
  .reg .b64 %rd<12>;
  ld.param.u64 %rd1, [x];
  ld.param.u64 %rd2, [y];
  ld.param.u64 %rd7, [scratch];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.s32 %r4, %r2, 32, %r3;
  setp.lt.u32 %p1, %r4, %r1;
  setp.eq.u32 %p2, %r4, 0;
  mul.wide.u32 %rd3, %r4, 4;
  add.s64 %rd4, %rd1, %rd3;
  add.s64 %rd5, %rd2, %rd3;
)" + first +
         R"(
  @%p1 ld.global.f32 %f1, [%rd4];
  @%p1 fma.rn.f32 %f2, %f1, 0f40000000, 0f3F800000;
  @%p1 st.global.f32 [%rd5], %f2;
  ret;
}
)";
}

class VirtualState : public testing::Test {
 protected:
  std::string outcome(const std::string& first) {
    GateFixture fixture;  // only its problem is used
    const auto device = open_virtual_device("virtual:l4", {.threads = 2});
    const auto load = [&](const std::string& ptx) {
      const auto loaded = device->load({.ptx = ptx, .cubin = {}, .entries = {"line"}});
      if (const auto* fault = std::get_if<Fault>(&loaded)) ADD_FAILURE() << fault->reason;
      return std::get<KernelId>(loaded);
    };
    Problem& problem = fixture.problem;
    problem.reference.kernel->steps.front().launch.grid.clear();
    problem.reference.kernel->steps.front().launch.grid.emplace_back("ceil_div(N, 32)");
    const auto work = make_host_work(*device);
    MadeGates made(*work, problem, load(kernel("")), 3);
    const LoadedKernel loaded = {load(kernel(first)), &problem.templates.front(), {}};
    CorrectnessGate gate(*work, problem, made.cases, made.judge, {});
    return reason_of(gate.check(loaded, {&problem.shape("small"), &problem.shape("timed")},
                                CheckKind::kFull, {},
                                [&](const std::string& step) { steps_.push_back(step); }));
  }

  [[nodiscard]] bool was_aged() const {
    return std::ranges::any_of(
        steps_, [](const std::string& step) { return step.starts_with("launching"); });
  }

  std::vector<std::string> steps_;
};

TEST_F(VirtualState, AKernelWithoutStateIsNotAged) {
  EXPECT_EQ(outcome(""), "passed");
  EXPECT_FALSE(was_aged());
}

TEST_F(VirtualState, AWorkspaceThatIsPutBackIsNotAged) {
  EXPECT_EQ(outcome(R"(
  mov.u32 %r6, 5;
  @%p2 st.volatile.global.u32 [%rd7], %r6;)"),
            "passed");
  EXPECT_FALSE(was_aged());
}

TEST_F(VirtualState, ACounterInAVariableIsAgedAndHarmless) {
  EXPECT_EQ(outcome(R"(
  mov.u64 %rd8, launches;
  @%p2 red.global.add.u32 [%rd8], 1;)"),
            "passed");
  EXPECT_TRUE(was_aged());
}

TEST_F(VirtualState, AKernelThatStopsAfterSoManyLaunchesIsFound) {
  for (const char* limit : {"20", "1000"}) {
    EXPECT_THAT(outcome(R"(
  mov.u64 %rd8, launches;
  ld.volatile.global.u32 %r5, [%rd8];
  setp.lt.and.u32 %p1, %r5, )" +
                        std::string(limit) +
                        R"(, %p1;
  bar.sync 0;
  @%p2 add.u32 %r6, %r5, 1;
  @%p2 st.volatile.global.u32 [%rd8], %r6;)"),
                HasSubstr("never written (after many launches)"));
  }
}

/// The kernel counts different inputs, not launches, so a second launch on the same input does not
/// change the kernel's state.
TEST_F(VirtualState, AKernelThatStopsAfterSoManyInputsIsFound) {
  for (const char* limit : {"12", "900"}) {
    EXPECT_THAT(outcome(R"(
  mov.u64 %rd8, launches;
  ld.volatile.global.u32 %r5, [%rd8];
  setp.lt.and.u32 %p1, %r5, )" +
                        std::string(limit) +
                        R"(, %p1;
  bar.sync 0;
  ld.global.u32 %r6, [%rd1];
  ld.volatile.global.u32 %r7, [%rd7];
  setp.ne.and.u32 %p2, %r6, %r7, %p2;
  @%p2 st.volatile.global.u32 [%rd7], %r6;
  @%p2 add.u32 %r5, %r5, 1;
  @%p2 st.volatile.global.u32 [%rd8], %r5;)"),
                HasSubstr("never written (after many launches)"));
  }
}

TEST_F(VirtualState, AWorkspaceThatHoldsWhatTheInputSaysIsHarmless) {
  EXPECT_EQ(outcome(R"(
  ld.global.u32 %r6, [%rd1];
  @%p2 st.volatile.global.u32 [%rd7], %r6;)"),
            "passed");
  EXPECT_TRUE(was_aged());
}

TEST_F(VirtualState, ACounterInTheWorkspaceIsAged) {
  EXPECT_THAT(outcome(R"(
  ld.volatile.global.u32 %r5, [%rd7];
  setp.lt.and.u32 %p1, %r5, 700, %p1;
  bar.sync 0;
  @%p2 add.u32 %r6, %r5, 1;
  @%p2 st.volatile.global.u32 [%rd7], %r6;)"),
              HasSubstr("never written (after many launches)"));
}

TEST_F(VirtualState, AnElementThatNobodyWritesIsNamed) {
  EXPECT_THAT(outcome(R"(
  setp.ne.and.u32 %p1, %r4, 30, %p1;)"),
              HasSubstr("y[30] was never written"));
}

TEST_F(VirtualState, AFaultAfterSoManyLaunchesIsFound) {
  EXPECT_THAT(outcome(R"(
  mov.u64 %rd8, launches;
  ld.volatile.global.u32 %r5, [%rd8];
  setp.gt.u32 %p3, %r5, 900;
  @%p3 trap;
  bar.sync 0;
  @%p2 add.u32 %r6, %r5, 1;
  @%p2 st.volatile.global.u32 [%rd8], %r6;)"),
              HasSubstr("trap"));
}

/// A problem whose output is updated in place: y = y + 2 x + 1.
class InOut : public testing::Test {
 protected:
  static std::optional<Fault> honest(const Launch& launch) {
    for (int i = 0; i < launch.scalar<int>(kN); ++i) {
      launch.buffer<float>(kY)[i] += 2 * launch.buffer<float>(kX)[i] + 1;
    }
    return std::nullopt;
  }

  InOut() {
    Argument& y = fixture_.problem.arguments[kY];
    y.direction = Direction::kInOut;
    y.generator = fixture_.problem.arguments[kX].generator;
    const LoadedKernel reference = fixture_.load("added", honest);
    fixture_.made = std::make_unique<MadeGates>(*fixture_.work, fixture_.problem, reference.id, 7);
  }

  std::string checked(const fake::Kernel& kernel) {
    return reason_of(fixture_.check(fixture_.load("k", kernel)));
  }
  std::string timed(const fake::Kernel& kernel) {
    const TimingResult result = fixture_.timing().time(
        fixture_.load("k", kernel), fixture_.problem.shape("timed"), [](const std::string&) {});
    return result.rejection ? result.rejection->reason : "passed";
  }

  GateFixture fixture_;
};

TEST_F(InOut, AnHonestKernelPassesEveryGate) {
  EXPECT_EQ(checked(honest), "passed");
  EXPECT_EQ(timed(honest), "passed");
}

TEST_F(InOut, WhatWasThereBeforeCounts) {
  EXPECT_THAT(checked(GateFixture::honest), HasSubstr("max abs error"));
  EXPECT_THAT(checked([](const Launch&) { return std::optional<Fault>(); }),
              HasSubstr("max abs error"));
  EXPECT_THAT(checked([](const Launch& launch) {
                launch.buffer<float>(kX)[3] = 5;
                return honest(launch);
              }),
              HasSubstr("changed its input 'x'"));
}

TEST_F(InOut, WhatIsTimedIsRight) {
  int launches = 0;
  EXPECT_THAT(timed([&](const Launch& launch) {
                return launches++ < 100 ? honest(launch) : std::optional<Fault>();
              }),
              HasSubstr("timed launches"));
}

}  // namespace
}  // namespace evo::state_test
