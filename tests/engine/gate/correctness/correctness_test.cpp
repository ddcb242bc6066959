// Tests the correctness gate against ways in which a wrong kernel could pass.

#include "engine/gate/correctness/correctness.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "tests/engine/gate/gate_fixture.hpp"

namespace evo {
namespace {

using fake::Launch;
using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;

constexpr int kX = 0;
constexpr int kY = 1;
constexpr int kScratch = 2;
constexpr int kN = 3;

/// A kernel that computes the right result and then does something wrong.
fake::Kernel right_and(const std::function<void(const Launch&, float* y, int n)>& spoil) {
  return [spoil](const Launch& launch) {
    auto fault = GateFixture::honest(launch);
    spoil(launch, launch.buffer<float>(kY), launch.scalar<int>(kN));
    return fault;
  };
}

std::string reason_of(const CorrectnessResult& result) {
  if (!result.rejection) return "passed";
  EXPECT_EQ(result.rejection->gate, Gate::kCorrectness);
  return result.rejection->reason;
}

TEST(CorrectnessGate, AnHonestKernelPassesWithAllFigures) {
  GateFixture fixture;
  const CorrectnessResult result = fixture.check(fixture.load("honest", GateFixture::honest));
  EXPECT_EQ(reason_of(result), "passed");
  ASSERT_EQ(result.checks.size(), 10U);  // two shapes, five seeds
  std::set<std::uint64_t> seeds;
  for (const CheckResult& check : result.checks) {
    EXPECT_EQ(check.max_abs_error, 0);
    EXPECT_EQ(check.bad_share, 0);
    EXPECT_EQ(check.relative_l2, 0);
    seeds.insert(check.seed);
  }
  EXPECT_EQ(seeds.size(), 10U);
  EXPECT_EQ(result.checks.front().shape, "small");  // least work first
  EXPECT_EQ(result.checks.back().shape, "timed");
}

TEST(CorrectnessGate, TheSmallestShapesAreCheckedUpToAnAmountOfWork) {
  GateFixture fixture;
  const LoadedKernel honest = fixture.load("honest", GateFixture::honest);
  const auto shapes_of = [&](double flops) {
    CorrectnessOptions options;
    options.flops_of_all_shapes = flops;
    std::set<std::string> shapes;
    for (const CheckResult& check : fixture.check(honest, options).checks) {
      shapes.insert(check.shape);
    }
    return shapes;
  };
  EXPECT_THAT(shapes_of(0), testing::ElementsAre("small"))
      << "the smallest shape is always checked";
  EXPECT_THAT(shapes_of(1e18), testing::ElementsAre("small", "timed"));
}

TEST(CorrectnessGate, AFaultIsToldFromAComparison) {
  GateFixture fixture;
  const auto faulty = [](FaultKind kind) -> fake::Kernel {
    return [kind](const Launch&) { return Fault{.reason = "race", .kind = kind}; };
  };
  const auto fault_of = [&](const std::string& name, const fake::Kernel& kernel) {
    return fixture.check(fixture.load(name, kernel)).fault;
  };
  EXPECT_EQ(fault_of("racy", faulty(FaultKind::kDefect)), FaultKind::kDefect);
  EXPECT_EQ(fault_of("refused", faulty(FaultKind::kRefused)), FaultKind::kRefused);
  EXPECT_EQ(
      fault_of("zero", right_and([](const Launch&, float* y, int n) { std::fill_n(y, n, 0.0F); })),
      std::nullopt);
  EXPECT_EQ(fault_of("honest", GateFixture::honest), std::nullopt);
}

TEST(CorrectnessGate, AnErrorWithinToleranceIsReportedAndPasses) {
  GateFixture fixture;
  const CorrectnessResult result =
      fixture.check(fixture.load("rounded", right_and([](const Launch&, float* y, int n) {
                                   for (int i = 0; i < n; ++i) y[i] += 0.0005F;
                                 })));
  EXPECT_EQ(reason_of(result), "passed");
  EXPECT_NEAR(result.checks.front().max_abs_error, 0.0005, 1e-6);
  EXPECT_GT(result.checks.front().relative_l2, 0);
}

TEST(CorrectnessGate, RejectsAnOutputLeftFromBefore) {
  GateFixture fixture;
  // A candidate that writes nothing must fail, although its output buffer held the reference's
  // results before.
  const auto result =
      fixture.check(fixture.load("stale", [](const Launch&) { return std::optional<Fault>(); }));
  EXPECT_THAT(reason_of(result), HasSubstr("33 non-finite element(s); worst: y[0] = nan"));
}

TEST(CorrectnessGate, RejectsNan) {
  GateFixture fixture;
  const auto result = fixture.check(fixture.load("nan", right_and([](const Launch&, float* y, int) {
                                                   y[7] = std::numeric_limits<float>::quiet_NaN();
                                                 })));
  EXPECT_THAT(reason_of(result), HasSubstr("1 non-finite element(s); worst: y[7] = nan"));
  EXPECT_EQ(result.checks.size(), 1U);  // the failed check keeps its results
}

TEST(CorrectnessGate, RejectsAnAllZeroOutput) {
  GateFixture fixture;
  const auto result = fixture.check(fixture.load(
      "zero", right_and([](const Launch&, float* y, int n) { std::fill_n(y, n, 0.0F); })));
  EXPECT_THAT(reason_of(result), HasSubstr("max abs error"));
}

TEST(CorrectnessGate, RejectsOneWrongRowThatEveryOtherBoundAllows) {
  GateFixture fixture;
  // Elements of y are about 2, so an error of 0.009 is within max_abs_error, and ten wrong elements
  // in a thousand are within bad_share.
  const auto wrong_row = right_and([](const Launch&, float* y, int n) {
    for (int i = 0; n == 1000 && i < 10; ++i) y[700 + i] += 0.009F;
  });
  EXPECT_EQ(reason_of(fixture.check(fixture.load("wrong", wrong_row))), "passed");
  fixture.problem.arguments[kY].row = Expression("N == 33 ? 11 : 10");
  fixture.problem.templates.front().tolerance.max_row_error = Expression("0.001");
  const CorrectnessResult result = fixture.check(fixture.load("wrong again", wrong_row));
  EXPECT_THAT(reason_of(result), AllOf(HasSubstr("shape timed"), HasSubstr("relative to the row"),
                                       ContainsRegex("worst: y.70[0-9]")));
  EXPECT_GT(result.checks.back().max_row_error, 0.001);
  EXPECT_LT(result.checks.front().max_row_error, 1e-6);
  EXPECT_EQ(reason_of(fixture.check(fixture.load("honest", GateFixture::honest))), "passed");
}

TEST(CorrectnessGate, RejectsWritesOutsideTheBuffer) {
  const std::vector<std::pair<int, std::string>> places = {{33, "first byte 0 bytes past its end"},
                                                           {40, "first byte 28 bytes past its end"},
                                                           {-1, "before its start"},
                                                           {-1000, "before its start"}};
  for (const auto& [index, text] : places) {
    GateFixture fixture;
    const int at = index;
    const auto result = fixture.check(
        fixture.load("outside", right_and([at](const Launch&, float* y, int) { y[at] = 1.0F; })));
    // The fault is found on the small shape, which runs first; on the timed shape, the indices 33
    // and 40 are inside y.
    EXPECT_THAT(reason_of(result),
                AllOf(HasSubstr("shape small"), HasSubstr("wrote outside buffer 'y' (132 bytes)"),
                      HasSubstr(text)));
  }
}

TEST(CorrectnessGate, RejectsWritesOutsideTheWorkspaceAndInputs) {
  for (const auto& [argument, name] : {std::pair(kScratch, "scratch"), std::pair(kX, "x")}) {
    GateFixture fixture;
    const int which = argument;
    const auto result = fixture.check(
        fixture.load("outside", right_and([which](const Launch& launch, float*, int) {
                       *(launch.buffer<std::uint8_t>(static_cast<std::size_t>(which)) - 1) = 9;
                     })));
    EXPECT_THAT(reason_of(result), HasSubstr("wrote outside buffer '" + std::string(name) + "'"));
  }
}

TEST(CorrectnessGate, ADamagedGuardIsRepairedForTheNextCandidate) {
  GateFixture fixture;
  (void)fixture.check(
      fixture.load("outside", right_and([](const Launch&, float* y, int n) { y[n] = 1.0F; })));
  EXPECT_EQ(reason_of(fixture.check(fixture.load("honest", GateFixture::honest))), "passed");
}

TEST(CorrectnessGate, RejectsAChangedInputAndRestoresIt) {
  GateFixture fixture;
  const auto result = fixture.check(fixture.load(
      "changes",
      right_and([](const Launch& launch, float*, int) { launch.buffer<float>(kX)[3] += 1; })));
  EXPECT_THAT(reason_of(result), ContainsRegex("changed its input 'x', first at byte 1[2-5]$"));
  EXPECT_EQ(reason_of(fixture.check(fixture.load("honest", GateFixture::honest))), "passed");
}

TEST(CorrectnessGate, RejectsAResultThatDiffersWhenRunAgain) {
  GateFixture fixture;
  const auto result = fixture.check(
      fixture.load("race", right_and([](const Launch& launch, float* y, int) {
                     y[5] = std::nextafter(y[5], static_cast<float>(launch.number) * 100 - 50);
                   })));
  EXPECT_THAT(reason_of(result),
              AllOf(HasSubstr("a second run on the same input"), HasSubstr("y[5]")));
}

TEST(CorrectnessGate, ATemplateMayAddInAnOrderThatVaries) {
  GateFixture fixture("f32", false);
  const auto tiny = [](const Launch& launch, float* y, int) {
    y[5] = std::nextafter(y[5], static_cast<float>(launch.number) * 100 - 50);
  };
  EXPECT_EQ(reason_of(fixture.check(fixture.load("order", right_and(tiny)))), "passed");
  // Two launches may give different results, but both results must be within the tolerance.
  const auto large = [](const Launch& launch, float* y, int) {
    if (launch.number == 1) y[5] += 1;
  };
  EXPECT_THAT(reason_of(fixture.check(fixture.load("wrong", right_and(large)))),
              HasSubstr("max abs error"));
}

TEST(CorrectnessGate, RejectsAnElementNobodyWritesThoughPoisonEqualsTheResult) {
  // The right result 2 · 127 + 1 = 255 equals a byte of the poison, so only a launch with a
  // different poison shows that the kernel wrote nothing.
  GateFixture fixture("u8");
  const auto honest = fixture.check(fixture.load("honest", fixture.kernels["reference"]));
  EXPECT_EQ(reason_of(honest), "passed");
  const auto result =
      fixture.check(fixture.load("lazy", [](const Launch&) { return std::optional<Fault>(); }));
  EXPECT_THAT(reason_of(result), HasSubstr("expected 255"));
}

TEST(CorrectnessGate, RejectsAnUnwrittenTail) {
  GateFixture fixture;
  const auto result = fixture.check(fixture.load("tail", [](const Launch& launch) {
    auto* y = launch.buffer<float>(kY);
    for (int i = 0; i + 1 < launch.scalar<int>(kN); ++i) y[i] = 2 * launch.buffer<float>(kX)[i] + 1;
    return std::optional<Fault>();
  }));
  EXPECT_THAT(reason_of(result), HasSubstr("worst: y[32] = nan"));
}

TEST(CorrectnessGate, RejectsAKernelThatKnowsOneSeed) {
  GateFixture fixture;
  const CheckCase& known = fixture.made->cases.get(fixture.problem.shape("small"), 0);
  float first = 0;
  const std::vector<std::byte> input = fixture.work->kept().content(*known.inputs[kX]);
  std::memcpy(&first, input.data(), sizeof first);
  const auto result =
      fixture.check(fixture.load("knows", right_and([first](const Launch& launch, float* y, int n) {
                                   if (launch.buffer<float>(kX)[0] != first)
                                     std::fill_n(y, n, 1.0F);
                                 })));
  EXPECT_THAT(reason_of(result), HasSubstr("max abs error"));
  EXPECT_EQ(result.checks.size(),
            2U);  // the kernel passed with the known seed, but not with the next
}

TEST(CorrectnessGate, RejectsAKernelThatKnowsOneShape) {
  GateFixture fixture;
  const auto result =
      fixture.check(fixture.load("knows", right_and([](const Launch&, float* y, int n) {
                                   if (n != 33) y[n - 1] = 77;
                                 })));
  EXPECT_THAT(reason_of(result), AllOf(HasSubstr("shape timed"), HasSubstr("y[999] = 77")));
}

TEST(CorrectnessGate, InputsDependOnTheRunsSeed) {
  GateFixture fixture;
  const Shape& shape = fixture.problem.shape("small");
  const auto input_of = [&](std::uint64_t seed) {
    MadeGates made(*fixture.work, fixture.problem, 1, seed);
    return fixture.work->kept().content(*made.cases.get(shape, 0).inputs[kX]);
  };
  EXPECT_NE(input_of(2024), input_of(2025));
  EXPECT_EQ(input_of(2024), input_of(2024));
}

TEST(CorrectnessGate, ReadingBehindAnInputPoisonsTheResult) {
  GateFixture fixture;
  const auto result =
      fixture.check(fixture.load("reads", right_and([](const Launch& launch, float* y, int n) {
                                   y[0] += 0.0F * launch.buffer<float>(kX)[n];
                                 })));
  EXPECT_THAT(reason_of(result), HasSubstr("y[0] = nan"));
}

TEST(CorrectnessGate, AFaultIsTheReasonAndALostDeviceIsReported) {
  GateFixture fixture;
  const auto result = fixture.check(fixture.load("faults", [](const Launch&) {
    return std::optional<Fault>(Fault{"an illegal address", "thread 3", true});
  }));
  EXPECT_THAT(reason_of(result), AllOf(HasSubstr("shape small"), HasSubstr("an illegal address")));
  EXPECT_EQ(result.rejection->detail, "thread 3");
  EXPECT_TRUE(result.device_lost);
}

TEST(CorrectnessGate, AWorkspaceIsZeroedOnceAndKeptFromLaunchToLaunch) {
  GateFixture fixture;
  const auto counting = right_and([](const Launch& launch, float* y, int) {
    int* counter = launch.buffer<int>(kScratch);
    // The kernel counts its launches in a workspace, and gives a wrong result if the workspace was
    // not zero at first, or if launches on other shapes use the same workspace.
    if (*counter < 0 || *counter > 5) y[0] = 99;
    ++*counter;
  });
  EXPECT_EQ(reason_of(fixture.check(fixture.load("counting", counting))), "passed");
}

TEST(CorrectnessGate, AWorkspaceIsAsLargeAsTheTemplateNeeds) {
  for (const auto& [extent, outcome] :
       {std::pair("4", "wrote outside buffer 'scratch' (16 bytes)"), std::pair("5", "passed"),
        std::pair("0", "wrote outside buffer 'scratch' (0 bytes)")}) {
    GateFixture fixture;
    fixture.problem.templates.front().workspace.emplace("scratch", Expression(extent));
    const auto fifth =
        right_and([](const Launch& launch, float*, int) { launch.buffer<int>(kScratch)[4] = 1; });
    EXPECT_THAT(reason_of(fixture.check(fixture.load("fifth", fifth))), HasSubstr(outcome));
  }
}

TEST(CorrectnessGate, LargeShapesMayBeCheckedWithOneSeed) {
  GateFixture fixture;
  const CorrectnessResult result =
      fixture.check(fixture.load("honest", GateFixture::honest), {.flops_for_all_seeds = 100});
  EXPECT_EQ(reason_of(result), "passed");
  EXPECT_EQ(result.checks.size(), 6U);  // five seeds on the small shape, one on the large shape
}

TEST(CorrectnessGate, LeavesNoWorkspaceBehind) {
  GateFixture fixture;
  (void)fixture.check(fixture.load("honest", GateFixture::honest));
  const std::size_t alive = fixture.device->buffers_alive();
  for (const char* name : {"a", "b", "c"})
    (void)fixture.check(fixture.load(name, GateFixture::honest));
  EXPECT_EQ(fixture.device->buffers_alive(), alive);
}

TEST(CorrectnessGate, NoShapeIsNoVerdict) {
  GateFixture fixture;
  CorrectnessGate gate(*fixture.work, fixture.problem, fixture.made->cases, fixture.made->judge,
                       {});
  const auto result = gate.check(fixture.load("honest", GateFixture::honest), {}, CheckKind::kFull,
                                 {}, [](const std::string&) {});
  EXPECT_EQ(reason_of(result), "no shape was checked");
}

TEST(OutputJudge, WithoutAnElementNothingIsRight) {
  GateFixture fixture;
  const LoadedKernel kernel = fixture.load("honest", GateFixture::honest);
  const CheckCase& data = fixture.made->cases.get(fixture.problem.shape("small"), 0);
  const OutputJudge::Verdict verdict =
      fixture.made->judge.judge(fixture.made->judge.look(kernel, data, {}));
  EXPECT_EQ(verdict.violation.value_or("right"), "no element of any output was compared");
}

}  // namespace
}  // namespace evo
