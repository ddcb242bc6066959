// Tests a device worker's session on a fake device in host memory.
#include "engine/worker/session.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "engine/core/json_reader.hpp"
#include "tests/db/sample.hpp"
#include "tests/fakes/fake_device.hpp"

namespace evo {
namespace {

constexpr double kLaunchUs = 50;
/// This limit lies below the kernel's time by more than the drift of clocks, but not by half.
constexpr double kGiveUpUs = 40;
constexpr double kNever = std::numeric_limits<double>::infinity();

/// y = 2 x + 1.
std::optional<Fault> doubles_and_adds(const fake::Launch& launch) {
  const auto* x = launch.buffer<float>(0);
  auto* y = launch.buffer<float>(1);
  for (int i = 0; i < launch.scalar<int>(2); ++i) y[i] = 2 * x[i] + 1;
  return std::nullopt;
}

std::string problem_text() {
  const Json problem = {
      {"format", "evo-tune problem 1"},
      {"name", "line"},
      {"arguments",
       {{{"name", "x"},
         {"direction", "in"},
         {"dtype", "f32"},
         {"extent", "N"},
         {"generator", {{"distribution", "normal"}}}},
        {{"name", "y"}, {"direction", "out"}, {"dtype", "f32"}, {"extent", "N"}},
        {{"name", "n"}, {"direction", "scalar"}, {"dtype", "i32"}, {"value", "N"}}}},
      {"shapes", {{"near", {{"variables", {{"N", 10}}}}}, {"far", {{"variables", {{"N", 90}}}}}}},
      {"tolerance",
       {{"max_abs_error", 0.001},
        {"bad_abs_error", 0.001},
        {"bad_share", 0},
        {"relative_l2", 0.001}}},
      {"flops", "2*N"},
      {"bytes", "8*N"},
      {"reference",
       {{"source", "line.cu"}, {"entry", "reference"}, {"grid", {1}}, {"block", {32}}}},
      {"templates",
       {{"line", {{"source", "line.cu"}, {"entry", "line"}, {"grid", {"N"}}, {"block", {32}}}}}}};
  return problem.dump();
}

KernelImage image_of(const std::string& entry) { return {fake::to_ptx({entry, {}}), "", {entry}}; }

class SessionTest : public testing::Test {
 protected:
  SessionTest()
      : device_({fake::fake_info(),
                 [](const fake::Program&) -> std::variant<fake::Kernel, Fault> {
                   return doubles_and_adds;
                 },
                 [this](const fake::Program&, std::int64_t sample) {
                   return sample < 0 ? check_us_ : kLaunchUs;
                 }}) {
    write_file(folder_.path() / "line.cu", "");
    SessionSetup setup;
    setup.problem_text = problem_text();
    setup.problem_folder = folder_.path().string();
    setup.template_name = "line";
    setup.reference = image_of("reference");
    session_.emplace(device_, setup);
  }

  TimingResult screen(const std::string& key, const std::string& shape,
                      double early_stop_us = kGiveUpUs) {
    const KernelUnderTest kernel = {key, image_of("line"), {}, {"near", "far"}};
    TimingResult result =
        session_->time(kernel, shape, Effort::kScreening, early_stop_us, [](const std::string&) {});
    EXPECT_FALSE(result.rejection) << result.rejection->reason;
    return result;
  }

  /// Checks and times a kernel on the far shape.
  TimingResult judge(const std::string& key, double early_stop_us) {
    const auto nothing = [](const std::string&) {};
    const KernelUnderTest kernel = {key, image_of("line"), {}, {"far"}};
    const CorrectnessResult checked =
        session_->check(kernel, Effort::kScreening, {early_stop_us}, nothing);
    EXPECT_FALSE(checked.rejection);
    for (const CheckedTime& time : checked.times) {
      if (time.too_slow) return {.timing = time.too_slow};
    }
    return session_->time(kernel, "far", Effort::kScreening, early_stop_us, nothing);
  }

  double check_us_ = kLaunchUs;  ///< of a launch by itself
  sample::TemporaryFolder folder_;
  fake::FakeDevice device_;
  std::optional<Session> session_;
};

TEST_F(SessionTest, AKernelThatWasTimedJustBeforeIsGivenUpSooner) {
  EXPECT_EQ(screen("k", "near").timing->samples, 20);
  EXPECT_EQ(screen("other", "far").timing->samples, 20) << "another kernel";
  // Takes the smallest number of several tries, because the device becomes idle if this process
  // must wait between launches.
  std::int64_t fewest = 20;
  for (int i = 0; i < 10; ++i) {
    const std::string key = "k" + std::to_string(i);
    EXPECT_EQ(screen(key, "near").timing->samples, 20);
    fewest = std::min(fewest, screen(key, "far").timing->samples);
  }
  EXPECT_EQ(fewest, 10);
}

TEST_F(SessionTest, AScreeningAgesOnTheLastShapeForAll) {
  // The launches have 10 ms in total, for a part of which this process may have to wait, so several
  // tries are allowed.
  bool was_aged = false;
  for (int i = 0; i < 10; ++i) {
    const std::string key = "k" + std::to_string(i);
    EXPECT_FALSE(screen(key, "near", kNever).aged);
    was_aged = screen(key, "far", kNever).aged || was_aged;
  }
  EXPECT_TRUE(was_aged);
}

TEST_F(SessionTest, AKernelThatIsSlowWhenCheckedAndFastWhenTimedIsRejected) {
  check_us_ = 2 * kLaunchUs;
  EXPECT_FALSE(judge("cold caches", kNever).rejection);
  check_us_ = 20 * kLaunchUs;
  const TimingResult cheat = judge("cheat", kNever);
  ASSERT_TRUE(cheat.rejection);
  EXPECT_EQ(cheat.rejection->gate, Gate::kTiming);
  EXPECT_EQ(cheat.rejection->reason,
            "its launches take 20.0 times as long when it is checked as when it is timed: 1000.0 "
            "and 50.0 µs");
}

TEST_F(SessionTest, KernelsThatAreSlowOnlyWhenCheckedDoNotKeepFastOnesOut) {
  for (const char* key : {"a", "b", "c", "d", "e", "f"}) EXPECT_TRUE(judge(key, kNever).timing);
  check_us_ = 20 * kLaunchUs;
  EXPECT_TRUE(judge("cheat", kNever).rejection);
  check_us_ = 1.5 * kLaunchUs;  // above the limit, as far as the check can tell
  EXPECT_FALSE(judge("loser", kLaunchUs).timing->complete);
  check_us_ = kLaunchUs;
  EXPECT_TRUE(judge("good", kLaunchUs).timing->complete);
}

TEST_F(SessionTest, AKernelThatIsFastWhenCheckedKeepsTheTimeThatWasMeasured) {
  for (const char* key : {"a", "b", "c", "d", "e", "f"}) EXPECT_TRUE(judge(key, kNever).timing);
  check_us_ = kLaunchUs / 20;
  EXPECT_EQ(judge("cheat", kNever).timing->p50_us, kLaunchUs);
  check_us_ = kLaunchUs;
  EXPECT_EQ(judge("good", kLaunchUs).timing->p50_us, kLaunchUs);
}

}  // namespace
}  // namespace evo
