// Tests the selection of the fewest kernels that serve all shapes and devices of a bundle.

#include "tools/bundle/cover.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <random>
#include <set>
#include <stdexcept>

namespace evo {
namespace {

constexpr auto kUnknown = std::nullopt;

TEST(BundleCover, OneKernelThatIsGoodEnoughServesAll) {
  const TimeTable times = {{10.0, kUnknown, kUnknown}, {kUnknown, 20.0, 5.0}, {10.1, 20.3, 5.1}};
  EXPECT_EQ(fewest_kernels(times, 0.02), (KernelOfShape{2, 2, 2}));
  EXPECT_EQ(fewest_kernels(times, 0.005), (KernelOfShape{0, 1, 1}));
}

TEST(BundleCover, OfAsFewTheOnesThatLoseLeast) {
  const TimeTable times = {{1.02, 1.0}, {1.01, 1.0}, {1.0, 1.03}};
  EXPECT_EQ(fewest_kernels(times, 0.02), (KernelOfShape{1, 1}));
}

TEST(BundleCover, WithoutLossEachShapeHasItsBest) {
  const TimeTable times = {{1.0, 3.0}, {2.0, 2.0}};
  EXPECT_EQ(fewest_kernels(times, 0), (KernelOfShape{0, 1}));
}

TEST(BundleCover, AnUnknownTimeServesNothing) {
  EXPECT_EQ(fewest_kernels({{1.0, kUnknown}, {kUnknown, 1.0}}, 1000), (KernelOfShape{0, 1}));
  EXPECT_THROW((void)fewest_kernels({{1.0, kUnknown}}, 0.02), std::invalid_argument);
}

/// Compares the number of selected kernels with the size of the smallest subset that serves all
/// shapes, which the test finds by trying all subsets.
TEST(BundleCover, NeverTakesMoreKernelsThanItMust) {
  std::mt19937_64 random(7);
  for (int trial = 0; trial < 300; ++trial) {
    const std::size_t kernels = 1 + random() % 8;
    const std::size_t shapes = 1 + random() % 6;
    TimeTable times(kernels, std::vector<std::optional<double>>(shapes));
    for (auto& row : times) {
      for (auto& time : row) {
        if (random() % 3 != 0) time = 1 + static_cast<double>(random() % 10) / 100;
      }
    }
    for (std::size_t shape = 0; shape < shapes; ++shape) {
      if (!times[0][shape]) times[0][shape] = 1.5;
    }
    constexpr double kLoss = 0.03;
    const auto serves = [&](unsigned subset, std::size_t shape) {
      double best = std::numeric_limits<double>::infinity();
      double own = best;
      for (std::size_t kernel = 0; kernel < kernels; ++kernel) {
        const double time = times[kernel][shape].value_or(9);
        best = std::min(best, time);
        if (((subset >> kernel) & 1U) != 0) own = std::min(own, time);
      }
      return own <= best * (1 + kLoss);
    };
    int fewest = 99;
    for (unsigned subset = 1; subset < (1U << kernels); ++subset) {
      bool all = true;
      for (std::size_t shape = 0; shape < shapes; ++shape) all = all && serves(subset, shape);
      if (all) fewest = std::min(fewest, std::popcount(subset));
    }
    const KernelOfShape found = fewest_kernels(times, kLoss);
    const std::set<std::size_t> used(found.begin(), found.end());
    EXPECT_EQ(static_cast<int>(used.size()), fewest) << "trial " << trial;
    for (std::size_t shape = 0; shape < shapes; ++shape) {
      EXPECT_TRUE(serves(1U << found[shape], shape)) << "trial " << trial << ", shape " << shape;
    }
  }
}

}  // namespace
}  // namespace evo
