// Tests the lines of the live view, with which evo-tune shows the progress of a run.

#include "tools/tune/live_view.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/core/utf8.hpp"

namespace evo {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

LiveState some_state() {
  LiveState state;
  state.position = "generation 3/20";
  state.share_done = 0.15;
  state.rate = 8.6;
  state.left_s = 112;
  state.counts = {"24 evaluated", "20 green", "rejected: resource 2, timing 1", "1 same kernel"};
  state.in_flight = 12;
  state.max_in_flight = 16;
  state.compiling = 4;
  state.compilers = 16;
  state.device = "timing";
  state.device_share = 0.97;
  state.best = "best p50 10.27 µs";
  state.best_so_far = {40, 30, 20, 20, 12, 10.27};
  return state;
}

TEST(LiveView, SaysEverythingWhereThereIsRoom) {
  const std::vector<std::string> lines = live_lines(some_state(), 119);
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_THAT(lines[0],
              AllOf(StartsWith("generation 3/20 ██████░"), HasSubstr(" 15 % · 1:52 left · 8.6/s")));
  EXPECT_EQ(lines[1], "24 evaluated · 20 green · rejected: resource 2, timing 1 · 1 same kernel");
  EXPECT_EQ(lines[2], "device timing · compilers 4/16 · in flight 12/16 · device busy 97 %");
  EXPECT_EQ(lines[3], "best p50 10.27 µs █▆▃▃▁▁");
}

TEST(LiveView, FitsEveryWidth) {
  for (std::size_t width = 1; width <= 200; ++width) {
    for (const std::string& line : live_lines(some_state(), width)) {
      EXPECT_LE(columns_of(line), width) << line;
    }
  }
  const std::vector<std::string> narrow = live_lines(some_state(), 39);
  ASSERT_EQ(narrow.size(), 4U);
  EXPECT_THAT(narrow[0], AllOf(StartsWith("generation 3/20 "), HasSubstr(" 15 %")));
  EXPECT_EQ(narrow[1], "24 evaluated · 20 green");
  EXPECT_EQ(narrow[2], "device timing · compilers 4/16");
  EXPECT_EQ(narrow[3], "best p50 10.27 µs █▆▃▃▁▁");
}

TEST(LiveView, WithoutADeviceThereIsNoneToBeBusy) {
  LiveState state = some_state();
  state.has_device = false;
  state.best = {};
  const std::vector<std::string> lines = live_lines(state, 80);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[2], "compilers 4/16 · in flight 12/16");
}

TEST(LiveView, ASparkLineEndsWithTheLastValue) {
  EXPECT_EQ(spark_line({}, 10), "");
  EXPECT_EQ(spark_line({5}, 10), "▁");
  EXPECT_EQ(spark_line({8, 7, 6, 5, 4, 3, 2, 1}, 8), "█▇▆▅▄▃▂▁");
  EXPECT_EQ(spark_line({8, 8, 8, 8, 1, 1, 1, 1}, 4), "██▁▁");
  EXPECT_EQ(columns_of(spark_line(std::vector<double>(1000, 1.0), 60)), 60U);
}

}  // namespace
}  // namespace evo
