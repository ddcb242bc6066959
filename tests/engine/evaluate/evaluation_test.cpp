#include "engine/evaluate/evaluation.hpp"

#include <gtest/gtest.h>

namespace evo {
namespace {

/// A green kernel on the timed shapes 0 and 2.
Evaluation green() {
  Evaluation evaluation{{{1, 0}}};
  evaluation.shapes = {{.shape = 0}, {.shape = 2}};
  evaluation.shapes[0].timing = Timing{.p50_us = 10};
  evaluation.shapes[0].dynamic_shared_bytes = 512;
  evaluation.shapes[1].timing = Timing{.p50_us = 20};
  evaluation.checks = {{"mission", 7}};
  evaluation.was_run = true;
  evaluation.check_ms = 3;
  return evaluation;
}

TEST(Evaluation, FindsItsResultsOnAShape) {
  const Evaluation evaluation = green();
  EXPECT_EQ(evaluation.on(2), &evaluation.shapes[1]);
  EXPECT_EQ(evaluation.on(1), nullptr);
}

TEST(Evaluation, TakesTheMeasurementsOfTheSameKernelOnItsOwnShapes) {
  Evaluation other{{{0, 1}}};
  other.shapes = {{.shape = 2, .dynamic_shared_bytes = 64}, {.shape = 3}};
  other.take_measurements(green());
  EXPECT_EQ(other.shapes[0].timing->p50_us, 20);
  EXPECT_EQ(other.shapes[0].dynamic_shared_bytes, 64) << "the resources are its own";
  EXPECT_FALSE(other.shapes[1].timing.has_value()) << "the other was not timed on this shape";
  EXPECT_EQ(other.checks.size(), 1U);
  EXPECT_EQ(other.check_ms, 3);
}

TEST(Evaluation, ADuplicateHasNoResultsFromADevice) {
  Evaluation evaluation = green();
  EXPECT_TRUE(evaluation.is_green());
  evaluation.become_duplicate();
  EXPECT_TRUE(evaluation.duplicate);
  EXPECT_FALSE(evaluation.is_green());
  EXPECT_FALSE(evaluation.timing().has_value());
  EXPECT_TRUE(evaluation.checks.empty());
  EXPECT_FALSE(evaluation.was_run);
  EXPECT_EQ(evaluation.shapes[0].dynamic_shared_bytes, 512);
}

}  // namespace
}  // namespace evo
