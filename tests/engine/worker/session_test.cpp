// Tests Session, which checks and times kernels in a device worker, on a fake device in host
// memory.
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

constexpr int kFar = 90;  ///< length of the timed shape
constexpr double kLaunchUs = 50;
/// An early-stop limit in µs. The kernel's time of 50 µs exceeds it by more than clocks drift, but
/// not by so much that a few launches show that the kernel is slower.
constexpr double kGiveUpUs = 48;
constexpr double kNever = std::numeric_limits<double>::infinity();

/// A host function that acts as a kernel and computes y = 2 x + 1.
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
      {"shapes",
       {{"near", {{"variables", {{"N", 10}}}, {"check", true}}},
        {"far", {{"variables", {{"N", kFar}}}}}}},
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
                 [this](const fake::Program& program) -> std::variant<fake::Kernel, Fault> {
                   return [this, is_reference = program.entry == "reference"](
                              const fake::Launch& launch) { return run(launch, is_reference); };
                 },
                 [this](const fake::Program&, std::int64_t sample) {
                   return sample < 0 ? check_us_ : launch_us_;
                 }}) {
    write_file(folder_.path() / "line.cu", "");
    SessionSetup setup;
    setup.problem_text = problem_text();
    setup.problem_folder = folder_.path().string();
    setup.template_name = "line";
    setup.reference = image_of("reference");
    setup.correctness.now_ms = [this] { return now_ms_; };
    session_.emplace(device_, setup);
  }

  TimingResult screen(const std::string& key, const std::string& shape,
                      double early_stop_us = kGiveUpUs) {
    const KernelUnderTest kernel = {key, image_of("line"), {}, {"near", "far"}};
    TimingResult result =
        session_->time(kernel, shape, CheckKind::kQuick, early_stop_us, [](const std::string&) {});
    EXPECT_FALSE(result.rejection) << result.rejection->reason;
    return result;
  }

  std::optional<Fault> run(const fake::Launch& launch, bool is_reference) {
    if (launch.scalar<int>(2) == kFar) {
      ++(is_reference ? references_ : launches_);
      now_ms_ += launch_us_ / 1e3;
    }
    return doubles_and_adds(launch);
  }

  static KernelUnderTest kernel_of(const std::string& key) {
    return {key, image_of("line"), {}, {"far"}};
  }

  CorrectnessResult check(const std::string& key, double early_stop_us,
                          CheckKind check_kind = CheckKind::kQuick) {
    CorrectnessResult checked =
        session_->check(kernel_of(key), check_kind, {early_stop_us}, [](const std::string&) {});
    EXPECT_FALSE(checked.rejection);
    return checked;
  }

  /// Screens a kernel on the shape "far" and times it unless the check shows that it is too slow.
  TimingResult judge(const std::string& key, double early_stop_us) {
    const auto nothing = [](const std::string&) {};
    const KernelUnderTest kernel = kernel_of(key);
    const CorrectnessResult checked = check(key, early_stop_us);
    for (const CheckedTime& time : checked.times) {
      if (time.too_slow) return {.timing = time.too_slow};
    }
    return session_->time(kernel, "far", CheckKind::kQuick, early_stop_us, nothing);
  }

  double check_us_ = kLaunchUs;   ///< duration of a launch outside of timings
  double launch_us_ = kLaunchUs;  ///< duration of a timed launch
  double now_ms_ = 0;
  int launches_ = 0;    ///< launches of kernels on the far shape
  int references_ = 0;  ///< launches of the reference on the far shape
  sample::TemporaryFolder folder_;
  fake::FakeDevice device_;
  std::optional<Session> session_;
};

TEST_F(SessionTest, AKernelThatWasTimedJustBeforeIsGivenUpSooner) {
  EXPECT_EQ(screen("k", "near").timing->samples, 20);
  EXPECT_EQ(screen("other", "far").timing->samples, 20) << "a different kernel was timed before";
  // The smallest number of samples in several tries counts, because the device becomes idle and
  // needs more samples if the operating system delays this process between launches.
  std::int64_t fewest = 20;
  for (int i = 0; i < 10; ++i) {
    const std::string key = "k" + std::to_string(i);
    EXPECT_EQ(screen(key, "near").timing->samples, 20);
    fewest = std::min(fewest, screen(key, "far").timing->samples);
  }
  EXPECT_EQ(fewest, 10);
}

TEST_F(SessionTest, OnABusyDeviceSixLaunchesShowThatAKernelIsSlower) {
  // The smallest number of samples in several tries counts, because the device may become idle and
  // need more samples if the operating system delays this process after the check.
  std::int64_t fewest = 20;
  for (const char* key : {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"}) {
    const TimingResult loser = judge(key, kLaunchUs / 1.1);
    EXPECT_FALSE(loser.rejection);
    EXPECT_FALSE(loser.timing->complete);
    fewest = std::min(fewest, loser.timing->samples);
  }
  EXPECT_EQ(fewest, 6);
  EXPECT_TRUE(judge("winner", kLaunchUs).timing->complete);
}

TEST_F(SessionTest, ASearchMakesFewVeryLongLaunches) {
  const auto launches_of = [&](const auto& work) {
    launches_ = 0;
    work();
    return launches_;
  };
  const auto nothing = [](const std::string&) {};
  launch_us_ = check_us_ = 2e5;
  // From the first three kernels, the session learns how long checks take. The launch of the check
  // counts as the first of three samples.
  for (const char* key : {"a", "b", "c"}) {
    const int launches = launches_of([&] {
      const TimingResult contender = judge(key, kNever);
      EXPECT_TRUE(contender.timing->complete);
      EXPECT_EQ(contender.timing->samples, 3);
    });
    EXPECT_EQ(launches, 3) << key;
  }
  EXPECT_EQ(launches_of([&] { (void)check("a", kNever, CheckKind::kAfterQuick); }), 2);
  EXPECT_EQ(launches_of([&] {
              const PairResult pair =
                  session_->compare_pair(kernel_of("a"), kernel_of("b"), "far", nothing);
              EXPECT_EQ(pair.verdict(), 0);
            }),
            4)
      << "a tie";
  EXPECT_EQ(references_, 3) << "one launch for each of two seeds and for new data";
  launch_us_ = check_us_ = 3e5;
  EXPECT_EQ(launches_of([&] { EXPECT_TRUE(check("loser", 2e5).times.back().too_slow); }), 1);
  // A full check makes all launches, even if they are very long.
  EXPECT_EQ(launches_of([&] { (void)check("a", kNever, CheckKind::kFull); }), 6);
  EXPECT_EQ(references_, 6);
}

TEST_F(SessionTest, AQuickCheckAgesOnTheLastShapeForAll) {
  // Several tries are allowed, because the additional launches of a quick check have only 10 ms
  // together, and the operating system may delay this process.
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
  check_us_ = 1.5 * kLaunchUs;  // above the limit for "loser", kLaunchUs
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
