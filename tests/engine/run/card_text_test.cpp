#include "engine/run/card_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace evo {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(CardText, AQuietCardNeedsNoWords) {
  EXPECT_EQ(card_text(CardSummary{}), "");
  EXPECT_EQ(card_text(CardSummary{.timings = 40, .sm_clock_min_mhz = 1980}), "");
}

TEST(CardText, AThrottledCardIsSaid) {
  CardSummary summary{.timings = 40, .discarded = 300, .throttled = 12};
  summary.slowdowns = {{Slowdown::kHardwareThermal, 12}, {Slowdown::kPowerCap, 40}};
  summary.sm_clock_min_mhz = 600;
  summary.sm_clock_max_mhz = 1980;
  EXPECT_THAT(card_text(summary),
              HasSubstr("THROTTLED: the card was throttled in 12 of 40 timings (hardware thermal "
                        "slowdown; SM clock down to 600 MHz, 1980 at best)"));
  EXPECT_THAT(card_text(summary), HasSubstr("note: the card ran at its power limit throughout"));
  summary.throttled = 40;
  EXPECT_THAT(card_text(summary), HasSubstr("throttled throughout the run (40 timings)"));
  summary.throttled = 0;
  EXPECT_THAT(card_text(summary), HasSubstr("300 samples of a throttled card were discarded"));
  EXPECT_THAT(card_text(summary), Not(HasSubstr("THROTTLED")));
}

TEST(CardText, ASharedCardIsSaid) {
  CardSummary summary{.timings = 40, .shared = 40};
  summary.others = {{"4711 (python3)", 40}, {"99 (x)", 1}};
  EXPECT_THAT(card_text(summary),
              HasSubstr("SHARED: process 4711 (python3) and 1 more were on the card throughout the "
                        "run (40 timings); times are too long while they compute"));
  summary.others.erase("99 (x)");
  EXPECT_THAT(card_text(summary),
              HasSubstr("SHARED: process 4711 (python3) was on the card throughout the run (40 "
                        "timings); times are too long while it computes"));
  EXPECT_THAT(card_text(CardSummary{.timings = 40, .busy_before_percent = 70}),
              HasSubstr("SHARED: other processes kept the card 70 % busy before this run"));
}

TEST(CardText, OneTimingIsALine) {
  CardState state{.looks = 3, .sm_clock_min_mhz = 1950, .sm_clock_median_mhz = 1965};
  state.memory_clock_mhz = 2619;
  state.temperature_c = 41;
  state.power_w = 312.4;
  EXPECT_EQ(card_text(state), "SM 1965 MHz (1950 at least), memory 2619 MHz, 41 °C, 312 W");
  state.others = {"4711 (python3)"};
  state.throttled = true;
  EXPECT_THAT(card_text(state), HasSubstr("THROTTLED, SHARED with process 4711 (python3)"));
}

}  // namespace
}  // namespace evo
