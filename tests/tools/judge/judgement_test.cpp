#include "tools/judge/judgement.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace evo {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

class JudgementOutput : public testing::Test {
 protected:
  JudgementOutput() {
    Evaluation& evaluation = found_.evaluation;
    evaluation.candidate = task_.space().defaults();
    evaluation.shapes.resize(1);
    evaluation.shapes.front().launch = LaunchPlan({16, 1, 1}, {64, 2, 1}, 0);
    evaluation.compilation.ok = true;
    evaluation.compilation.compiler = "fake 1.0";
    evaluation.compilation.resources = {.registers = 32, .static_shared_bytes = 128};
    evaluation.checks = {{.shape = "ragged", .seed = 7, .max_abs_error = 0.25}};
    evaluation.was_run = true;
    evaluation.shapes.front().timing = Timing{.p50_us = 5, .p90_us = 6, .samples = 100};
  }

  static DeviceInfo device_info() {
    DeviceInfo info;
    info.id = "fake:0";
    info.arch = "sm_90";
    return info;
  }
  [[nodiscard]] std::string text() const { return judgement_text(task_, found_); }
  [[nodiscard]] nlohmann::ordered_json json() const { return judgement_json(task_, found_); }

  const TuningTask task_{EVO_SOURCE_DIR "/tests/planted/search_spaces/planted_faults.json", "",
                         device_info(), false};
  Judgement found_;
};

TEST_F(JudgementOutput, SaysHowAGreenKernelIsBuiltLaunchedCheckedAndTimed) {
  EXPECT_THAT(text(),
              AllOf(HasSubstr("registers    32 per thread\n"),
                    HasSubstr("shared       128 static + 0 dynamic bytes per CTA\n"),
                    HasSubstr("grid 16 × 1 × 1, block 64 × 2 × 1 on shape mission\n"),
                    HasSubstr("\nragged                                  7           0.25"),
                    HasSubstr("time         p50 5.000 µs, p90 6.000,"), EndsWith("GREEN\n")));
  const auto written = json();
  EXPECT_EQ(written["verdict"], "green");
  EXPECT_EQ(written["launch"]["block"], nlohmann::json({64, 2, 1}));
  EXPECT_EQ(written["checks"][0]["seed"], 7);
  EXPECT_EQ(written["timing"]["p50_us"], 5);
  EXPECT_FALSE(written.contains("rejection"));
  EXPECT_FALSE(written.contains("against"));
}

TEST_F(JudgementOutput, ARejectionHasItsGateReasonAndDetail) {
  found_.evaluation.rejection = Rejection{Gate::kTiming, "too slow", "too slow\nby far"};
  EXPECT_TRUE(found_.is_rejected());
  EXPECT_THAT(text(), EndsWith("REJECTED at the timing gate: too slow\nby far\n"));
  EXPECT_EQ(json()["verdict"], "rejected");
  EXPECT_EQ(json()["rejection"]["gate"], "timing");
}

TEST_F(JudgementOutput, AFailedProfileGateRejects) {
  found_.profile = ProfileRecord{.tool = "ncu", .require = "tensor > 50"};
  EXPECT_TRUE(found_.is_rejected());
  EXPECT_THAT(text(), EndsWith("REJECTED at the profile gate: tensor > 50 is false\n"));
  found_.profile->passed = true;
  EXPECT_FALSE(found_.is_rejected());
  EXPECT_EQ(json()["verdict"], "green");
}

TEST_F(JudgementOutput, WithoutATimeNothingIsGreen) {
  found_.evaluation.shapes.front().timing.reset();
  EXPECT_THAT(text(), AllOf(Not(HasSubstr("\ntime ")), EndsWith("LAUNCHED ONCE (not judged)\n")));
  EXPECT_EQ(json()["verdict"], "launched, not judged");
  found_.evaluation.was_run = false;
  EXPECT_THAT(text(), EndsWith("WITHIN POLICY (not run)\n"));
  EXPECT_EQ(json()["verdict"], "within policy");
}

}  // namespace
}  // namespace evo
