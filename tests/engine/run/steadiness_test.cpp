#include "engine/run/steadiness.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace evo {
namespace {

using testing::HasSubstr;

StoredGeneration drifted(std::optional<double> drift) {
  StoredGeneration generation;
  generation.record.control_drift = drift;
  return generation;
}

EliteRow timed(double p50_us, double p90_us, TimeKind kind = TimeKind::kMeasured) {
  EliteRow row;
  row.kind = kind;
  row.p50_us = p50_us;
  row.p90_us = p90_us;
  return row;
}

TEST(Steadiness, AQuietGpuNeedsNoWords) {
  EXPECT_EQ(steadiness_text({drifted(0), drifted(0.02), drifted(-0.02), drifted({})},
                            {timed(10, 10.1), timed(11, 11.3)}),
            "");
  EXPECT_EQ(steadiness_text({}, {}), "");
}

TEST(Steadiness, TheDriftIsThatOfTheTimesThereAre) {
  const ControlDrift drift =
      control_drift({drifted(0), drifted({}), drifted(-0.01), drifted(0.04)});
  EXPECT_EQ(drift.times, 3U);
  EXPECT_DOUBLE_EQ(drift.lowest, -0.01);
  EXPECT_DOUBLE_EQ(drift.highest, 0.04);
  EXPECT_TRUE(drift.is_steady());
  EXPECT_FALSE(control_drift({drifted(0), drifted(0.06)}).is_steady());
  EXPECT_FALSE(control_drift({drifted(0), drifted(-0.06)}).is_steady());
  EXPECT_EQ(control_drift({drifted({})}).times, 0U);
}

TEST(Steadiness, AControlThatDriftsIsSaid) {
  EXPECT_THAT(steadiness_text({drifted(0), drifted(0.85)}, {timed(10, 10)}),
              HasSubstr("UNRELIABLE: the device was not steady (the control's time drifted "
                        "from +0.0 to +85.0 %"));
  // A control that became 40 % faster is reported, too: other processes may have slowed the first
  // timings.
  EXPECT_THAT(steadiness_text({drifted(-0.4)}, {timed(10, 10)}), HasSubstr("from -40.0"));
}

TEST(Steadiness, TimesThatScatterAreSaidThoughTheControlAgrees) {
  EXPECT_THAT(steadiness_text({drifted(0.01)}, {timed(10, 10.1), timed(10, 19)}),
              HasSubstr("p90 of the elite is up to 1.90 times p50"));
}

TEST(Steadiness, PredictedTimesDoNotScatter) {
  EXPECT_EQ(steadiness_text({}, {timed(10, 19, TimeKind::kPredicted)}), "");
}

}  // namespace
}  // namespace evo
