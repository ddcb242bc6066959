// Tests that tolerances are refused if they would accept a kernel that computes something else,
// such as the mean of the expected output, a copy of an input, or the neighbour of each element.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <map>

#include "engine/core/error.hpp"
#include "tests/engine/gate/gate_fixture.hpp"

namespace evo {
namespace {

using fake::Launch;
using testing::AllOf;
using testing::HasSubstr;

constexpr int kInputX = 0;
constexpr int kOutputY = 1;
constexpr int kLengthN = 3;

/// A kernel y[i] = offset + x[i].
fake::Kernel shifted(float offset) {
  return [offset](const Launch& launch) {
    for (int i = 0; i < launch.scalar<int>(kLengthN); ++i) {
      launch.buffer<float>(kOutputY)[i] = offset + launch.buffer<float>(kInputX)[i];
    }
    return std::optional<Fault>();
  };
}

/// A kernel y[i] = value.
fake::Kernel constant(float value) {
  return [value](const Launch& launch) {
    for (int i = 0; i < launch.scalar<int>(kLengthN); ++i)
      launch.buffer<float>(kOutputY)[i] = value;
    return std::optional<Fault>();
  };
}

class ToleranceAuditTest : public testing::Test {
 protected:
  void expect_by(const fake::Kernel& reference) {
    fixture_.kernels["reference"] = reference;
    const auto loaded = fixture_.device->load({fake::to_ptx({"reference", {}}), "", {"reference"}});
    fixture_.made = std::make_unique<MadeGates>(*fixture_.work, fixture_.problem,
                                                std::get<KernelId>(loaded), 1);
  }

  void set_tolerance(const std::string& absolute, const std::string& relative,
                     const std::string& share = "0") {
    fixture_.problem.templates.front().tolerance = {Expression(absolute), Expression(absolute),
                                                    Expression(share), Expression(relative)};
  }

  void set_length(double n) {
    for (Shape& shape : fixture_.problem.shapes) shape.variables["N"] = n;
  }

  std::string judge(const fake::Kernel& kernel, const CorrectnessOptions& options = {}) {
    const CorrectnessResult result = fixture_.check(fixture_.load("k", kernel), options);
    return result.rejection ? result.rejection->reason : "passed";
  }

  std::string problem_error(const fake::Kernel& kernel) {
    try {
      return "no error: " + judge(kernel);
    } catch (const ProblemError& error) {
      return error.what();
    }
  }

  GateFixture fixture_;
};

TEST_F(ToleranceAuditTest, ARelativeBoundIsBlindBesideALargeOffset) {
  expect_by(shifted(1000));
  set_tolerance("10", "0.01");
  EXPECT_THAT(problem_error(constant(1000)),
              AllOf(HasSubstr("problem.json: tolerance: on shape 'small'"),
                    HasSubstr("the mean in place of every element of 'y'"),
                    HasSubstr("\"degenerate\": true")));
  set_tolerance("10", "0.00001");
  EXPECT_EQ(judge(shifted(1000)), "passed");
  EXPECT_THAT(judge(constant(1000)), HasSubstr("relative L2 error"));
}

TEST_F(ToleranceAuditTest, NearlyOneIsNoBound) {
  set_tolerance("1000", "0.97", "1");
  EXPECT_THAT(problem_error(constant(1)), HasSubstr("the mean in place of every element"));
}

TEST_F(ToleranceAuditTest, TheResultOfOtherInputsIsNotRight) {
  // Most elements are far from the mean of the output, but the output is nearly the same for all
  // inputs.
  expect_by([](const Launch& launch) {
    for (int i = 0; i < launch.scalar<int>(kLengthN); ++i) {
      launch.buffer<float>(kOutputY)[i] =
          static_cast<float>(i) + 0.001F * launch.buffer<float>(kInputX)[i];
    }
    return std::optional<Fault>();
  });
  set_tolerance("0.1", "0.01");
  const auto ignores = [](const Launch& launch) {
    for (int i = 0; i < launch.scalar<int>(kLengthN); ++i) {
      launch.buffer<float>(kOutputY)[i] = static_cast<float>(i);
    }
    return std::optional<Fault>();
  };
  EXPECT_THAT(problem_error(ignores), HasSubstr("the result of 'y' for other inputs"));
  fixture_.problem.arguments[kOutputY].degenerate = true;
  EXPECT_EQ(judge(ignores), "passed");
}

/// A kernel y[i] = was · y[i] + factor · x[i].
fake::Kernel scaled(float factor, float was = 0) {
  return [factor, was](const Launch& launch) {
    const auto* x = launch.buffer<float>(kInputX);
    auto* y = launch.buffer<float>(kOutputY);
    for (int i = 0; i < launch.scalar<int>(kLengthN); ++i) {
      y[i] = (was != 0 ? was * y[i] : 0) + factor * x[i];
    }
    return std::optional<Fault>();
  };
}

TEST_F(ToleranceAuditTest, AnInputIsNoResultThatHappensToBeNear) {
  expect_by(scaled(1.001F));
  set_tolerance("0.01", "0.01");
  EXPECT_THAT(problem_error(scaled(1)),
              AllOf(HasSubstr("it accepts the content of 'x' in place of 'y' as right"),
                    HasSubstr("a kernel that copies it would pass")));
  set_tolerance("0.01", "0.0001");
  EXPECT_EQ(judge(scaled(1.001F)), "passed");
  EXPECT_THAT(judge(scaled(1)), HasSubstr("relative L2 error"));
}

TEST_F(ToleranceAuditTest, ACopyIsRightWhereItIsWhatIsExpected) {
  expect_by(scaled(1));
  set_tolerance("0.01", "0.01");
  EXPECT_EQ(judge(scaled(1)), "passed");
}

TEST_F(ToleranceAuditTest, WhatDoesNothingIsNotRight) {
  Argument& y = fixture_.problem.arguments[kOutputY];
  y.direction = Direction::kInOut;
  y.generator = fixture_.problem.arguments[kInputX].generator;
  expect_by(scaled(0.001F, 1));
  set_tolerance("0.01", "0.01");
  const auto nothing = [](const Launch&) { return std::optional<Fault>(); };
  EXPECT_THAT(problem_error(nothing),
              AllOf(HasSubstr("it accepts the content of 'y' before the launch as right"),
                    HasSubstr("a kernel that does nothing would pass")));
  y.degenerate = true;
  EXPECT_EQ(judge(nothing), "passed");
  y.degenerate = false;
  set_tolerance("0.01", "0.0001");
  EXPECT_EQ(judge(scaled(0.001F, 1)), "passed");
  EXPECT_THAT(judge(nothing), HasSubstr("relative L2 error"));
}

TEST_F(ToleranceAuditTest, OfAToleranceByMacrosTheConfigurationIsRejected) {
  expect_by(shifted(1000));
  set_tolerance("10", "LOOSE ? 0.01 : 0.00001");
  LoadedKernel kernel = fixture_.load("honest", shifted(1000));
  for (const double loose : {1, 0, 1}) {
    kernel.macros["LOOSE"] = loose;
    const CorrectnessResult result = fixture_.check(kernel);
    ASSERT_EQ(result.rejection.has_value(), loose == 1);
    if (result.rejection) {
      EXPECT_EQ(result.rejection->gate, Gate::kCorrectness);
      EXPECT_THAT(result.rejection->reason, HasSubstr("the mean in place of every element"));
    }
  }
}

TEST_F(ToleranceAuditTest, AFewElementsMayBeTheirMeanOrNearAnInput) {
  set_length(1);
  EXPECT_EQ(judge(GateFixture::honest), "passed");
}

TEST_F(ToleranceAuditTest, AFewElementsOfOneSeedMayBeNearAnInput) {
  set_length(8);
  expect_by(scaled(1.001F));
  set_tolerance("0.01", "0.01");
  EXPECT_EQ(judge(scaled(1.001F), {.seeds = 1}), "passed");
}

TEST_F(ToleranceAuditTest, AnInputOfAnotherSizeIsNotLookedAt) {
  fixture_.problem.arguments[kInputX].size = Expression("N + 32");
  expect_by(scaled(1.001F));
  set_tolerance("0.01", "0.01");
  EXPECT_EQ(judge(scaled(1.001F)), "passed");
}

TEST_F(ToleranceAuditTest, InfinitiesHaveNoPartInTheMean) {
  const auto with_infinity = [](const Launch& launch) {
    (void)shifted(1000)(launch);
    launch.buffer<float>(kOutputY)[0] = std::numeric_limits<float>::infinity();
    return std::optional<Fault>();
  };
  expect_by(with_infinity);
  set_tolerance("10", "0.01");
  EXPECT_THAT(problem_error(with_infinity), HasSubstr("the mean in place of every element"));
}

TEST_F(ToleranceAuditTest, TheMeanOfIntegersIsOne) {
  GateFixture bytes("u8");
  Argument& x = bytes.problem.arguments[kInputX];
  x.generator = {Distribution::kIntegers, 0, 0, {false, 0, 1}};
  bytes.problem.arguments[kOutputY].degenerate = false;
  // A tolerance of 0.9 would accept 0.5 in place of 0 and 1, but a byte cannot have the value 0.5.
  bytes.problem.templates.front().tolerance = {Expression("0.9"), Expression("0.9"),
                                               Expression("0"), Expression("0.9")};
  const auto zeros_and_ones = [](const Launch& launch) {
    for (int i = 0; i < launch.scalar<int>(kLengthN); ++i) {
      // Every 16th output byte is the byte of x; the other bytes are 0 and 1 in turn.
      launch.buffer<std::uint8_t>(kOutputY)[i] =
          i % 16 == 0 ? launch.buffer<std::uint8_t>(kInputX)[i] : static_cast<std::uint8_t>(i % 2);
    }
    return std::optional<Fault>();
  };
  bytes.kernels["reference"] = zeros_and_ones;
  const auto loaded = bytes.device->load({fake::to_ptx({"reference", {}}), "", {"reference"}});
  bytes.made =
      std::make_unique<MadeGates>(*bytes.work, bytes.problem, std::get<KernelId>(loaded), 1);
  const CorrectnessResult result = bytes.check(bytes.load("k", zeros_and_ones));
  EXPECT_EQ(result.rejection ? result.rejection->reason : "passed", "passed");
}

TEST_F(ToleranceAuditTest, InputsThatAreMeantToBeTheSameAreNoOtherOnes) {
  fixture_.problem.arguments[kInputX].generator = {Distribution::kConstant, 2, 0};
  const auto steps = [](const Launch& launch) {
    for (int i = 0; i < launch.scalar<int>(kLengthN); ++i) {
      launch.buffer<float>(kOutputY)[i] = static_cast<float>(i) * launch.buffer<float>(kInputX)[i];
    }
    return std::optional<Fault>();
  };
  expect_by(steps);
  EXPECT_EQ(judge(steps), "passed");
}

TEST_F(ToleranceAuditTest, OfLargeOutputsTheStartIsLookedAtInWholeRows) {
  fixture_.problem.arguments[kOutputY].row = Expression("3");
  set_length(3 * 1'400'000);  // the examined 2^22 elements are not whole rows
  EXPECT_EQ(judge(GateFixture::honest, {.seeds = 1}), "passed");
}

/// A scan kernel: y[i] is the sum of the elements of x up to x[i] (inclusive), or before x[i]
/// (exclusive).
fake::Kernel scan(bool is_inclusive) {
  return [is_inclusive](const Launch& launch) {
    float sum = 0;
    for (int i = 0; i < launch.scalar<int>(kLengthN); ++i) {
      const float x = launch.buffer<float>(kInputX)[i];
      launch.buffer<float>(kOutputY)[i] = is_inclusive ? sum + x : sum;
      sum += x;
    }
    return std::optional<Fault>();
  };
}

TEST_F(ToleranceAuditTest, AnExclusiveScanIsNoInclusiveOne) {
  fixture_.problem.arguments[kInputX].generator = {Distribution::kUniform, 0, 1};
  expect_by(scan(true));
  set_tolerance("1", "0.5");
  EXPECT_THAT(
      problem_error(scan(false)),
      AllOf(HasSubstr("it accepts the previous element in place of every element of 'y'"),
            HasSubstr("is off by one, like an exclusive scan"), HasSubstr("\"degenerate\": true")));
  set_tolerance("0.01", "0.0001");
  EXPECT_EQ(judge(scan(true)), "passed");
  EXPECT_THAT(judge(scan(false)), HasSubstr("max abs error"));
}

TEST_F(ToleranceAuditTest, ANearMissOfOneSeedMayBeAnAccident) {
  // Adjacent elements of y are nearly equal for the inputs of the first seed only.
  std::map<int, float> firsts;  // x[0] of the first seed, for each N
  const auto steps = [&firsts](const Launch& launch) {
    const auto* x = launch.buffer<float>(kInputX);
    auto* y = launch.buffer<float>(kOutputY);
    const float first = firsts.try_emplace(launch.scalar<int>(kLengthN), x[0]).first->second;
    for (int i = 0; i < launch.scalar<int>(kLengthN); ++i) {
      y[i] = static_cast<float>(i) * (x[0] == first ? 0.001F : 1.0F) + 0.0001F * x[i];
    }
    return std::optional<Fault>();
  };
  expect_by(steps);
  set_tolerance("0.01", "0.5");
  EXPECT_EQ(judge(steps), "passed");
}

TEST_F(ToleranceAuditTest, AnHonestToleranceIsAccepted) {
  EXPECT_EQ(judge(GateFixture::honest), "passed");
}

}  // namespace
}  // namespace evo
