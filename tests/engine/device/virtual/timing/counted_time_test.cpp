#include "engine/device/virtual/timing/counted_time.hpp"

#include <gtest/gtest.h>

#include "engine/device/virtual/timing/device_model.hpp"

namespace evo::test {
namespace {

// Expected figures are from NVIDIA's occupancy calculator for compute capability 8.9 (an SM has
// 65536 registers and 100 KiB of shared memory, and holds 48 warps and 24 CTAs).
TEST(Occupancy, FollowsThePublishedRules) {
  const ptx::DeviceModel& l4 = ptx::device_model("virtual:l4");
  EXPECT_EQ(ptx::occupancy(l4, 32, 128, 0).ctas_per_sm, 12);
  EXPECT_EQ(ptx::occupancy(l4, 32, 32, 0).ctas_per_sm, 24);
  EXPECT_EQ(ptx::occupancy(l4, 128, 128, 0).ctas_per_sm, 4);
  EXPECT_EQ(ptx::occupancy(l4, 255, 256, 0).ctas_per_sm, 1);
  // A warp takes 5,376 registers (32 · 167, rounded up to a multiple of 256). So each of the four
  // sub-cores of an SM, with 16,384 registers, holds three warps, and the SM holds two CTAs of five
  // warps.
  EXPECT_EQ(ptx::occupancy(l4, 167, 160, 0).ctas_per_sm, 2);
  // A warp takes 3,328 registers, so an SM holds 4 · 4 warps, fewer than the 17 warps of the CTA.
  EXPECT_EQ(ptx::occupancy(l4, 104, 17 * 32, 0).ctas_per_sm, 0);
  EXPECT_EQ(ptx::occupancy(l4, 32, 128, 48 * 1024).ctas_per_sm, 2);
  EXPECT_EQ(ptx::occupancy(l4, 32, 128, 48 * 1024).limit, "shared memory");
  EXPECT_EQ(ptx::occupancy(l4, 32, 128, 99 * 1024).ctas_per_sm, 1);
}

TEST(Prediction, GrowsWithTheNumberOfWaves) {
  const ptx::DeviceModel& l4 = ptx::device_model("virtual:l4");
  ptx::PredictionInput input;
  input.cost.tensor = 2040;
  input.ctas_per_sm = 1;
  input.ctas = 58;
  const double one = ptx::predict_time_us(l4, input);
  EXPECT_NEAR(one, 1.0 + l4.rates.launch_us, 1e-9);
  input.ctas = 59;
  EXPECT_NEAR(ptx::predict_time_us(l4, input), one + 1.0, 1e-9);
  input.ctas = 1;
  EXPECT_NEAR(ptx::predict_time_us(l4, input), one, 1e-9);
}

}  // namespace
}  // namespace evo::test
