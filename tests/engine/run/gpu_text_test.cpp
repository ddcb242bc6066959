#include "engine/run/gpu_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace evo {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(GpuText, AQuietGpuNeedsNoWords) {
  EXPECT_EQ(gpu_text(GpuSummary{}), "");
  EXPECT_EQ(gpu_text(GpuSummary{.timings = 40, .sm_clock_min_mhz = 1980}), "");
}

TEST(GpuText, AThrottledGpuIsSaid) {
  GpuSummary summary{.timings = 40, .discarded = 300, .throttled = 12};
  summary.slowdowns = {{Slowdown::kHardwareThermal, 12}, {Slowdown::kPowerCap, 40}};
  summary.sm_clock_min_mhz = 600;
  summary.sm_clock_max_mhz = 1980;
  EXPECT_THAT(gpu_text(summary),
              HasSubstr("THROTTLED: the GPU was throttled in 12 of 40 timings (hardware thermal "
                        "slowdown; SM clock down to 600 MHz, 1980 at best)"));
  EXPECT_THAT(gpu_text(summary), HasSubstr("note: the GPU ran at its power limit throughout"));
  summary.throttled = 40;
  EXPECT_THAT(gpu_text(summary), HasSubstr("throttled throughout the run (40 timings)"));
  summary.throttled = 0;
  EXPECT_THAT(gpu_text(summary), HasSubstr("300 samples of a throttled GPU were discarded"));
  EXPECT_THAT(gpu_text(summary), Not(HasSubstr("THROTTLED")));
}

TEST(GpuText, ASharedGpuIsSaid) {
  GpuSummary summary{.timings = 40, .shared = 40};
  summary.others = {{"4711 (python3)", 40}, {"99 (x)", 1}};
  EXPECT_THAT(gpu_text(summary),
              HasSubstr("SHARED: process 4711 (python3) and 1 more were on the GPU throughout the "
                        "run (40 timings); times are too long while they compute"));
  summary.others.erase("99 (x)");
  EXPECT_THAT(gpu_text(summary),
              HasSubstr("SHARED: process 4711 (python3) was on the GPU throughout the run (40 "
                        "timings); times are too long while it computes"));
  EXPECT_THAT(gpu_text(GpuSummary{.timings = 40, .busy_before_percent = 70}),
              HasSubstr("SHARED: other processes kept the GPU 70 % busy before this run"));
}

TEST(GpuText, OneTimingIsALine) {
  GpuState state{.looks = 3, .sm_clock_min_mhz = 1950, .sm_clock_median_mhz = 1965};
  state.memory_clock_mhz = 2619;
  state.temperature_c = 41;
  state.power_w = 312.4;
  EXPECT_EQ(gpu_text(state), "SM 1965 MHz (1950 at least), memory 2619 MHz, 41 °C, 312 W");
  state.others = {"4711 (python3)"};
  state.throttled = true;
  EXPECT_THAT(gpu_text(state), HasSubstr("THROTTLED, SHARED with process 4711 (python3)"));
}

}  // namespace
}  // namespace evo
