// Tests the client of the device process with kernels that hang, crash or lose the device.

#include "engine/worker/device_client.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/core/error.hpp"
#include "engine/core/json_reader.hpp"
#include "engine/worker/session_messages.hpp"
#include "tests/db/sample.hpp"
#include "tests/fakes/fake_program.hpp"

namespace evo {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using Milliseconds = std::chrono::milliseconds;

std::filesystem::path fake_worker_file() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / "fake-worker";
}

KernelUnderTest kernel(const std::string& bug) {
  const fake::Program program{"planted", {{"BUG", bug}}};
  return {"key of " + bug,
          {to_ptx(program), "", {"planted"}},
          {{"THREADS", 128}, {"ITEMS", 2}},
          {"mission"}};
}

/// A host of worker processes that counts the processes that it starts.
class CountingHost final : public WorkerHost {
 public:
  std::unique_ptr<WorkerChannel> start(const std::vector<std::string>& arguments,
                                       const WorkerLimits& limits) override {
    ++starts;
    return local_.start(arguments, limits);
  }
  int starts = 0;

 private:
  LocalHost local_{fake_worker_file()};
};

class DeviceClientTest : public testing::Test {
 protected:
  DeviceClientTest()
      : client_(loop_, host_, "fake:measured", Milliseconds(400),
                [this](const std::string& kind, const std::string& text) {
                  events_.push_back(kind + ": " + text);
                }) {
    const std::filesystem::path folder =
        std::filesystem::path(EVO_SOURCE_DIR) / "tests/planted/kernel_templates/planted";
    SessionSetup& setup = setup_;
    setup.problem_text = read_text_file(folder / "problem.json");
    setup.problem_folder = folder.string();
    setup.template_name = "planted";
    setup.reference = {fake::to_ptx({"planted_reference", {}}), "", {"planted_reference"}};
    setup.check_seed = 11;
    client_.wait_until_open();
    loop_.run(client_.set_up(setup));
  }

  Reply<CorrectnessResult> reply_to(const std::string& bug) {
    return loop_.run(client_.check(kernel(bug), CheckKind::kFull, {}));
  }
  CorrectnessResult check(const std::string& bug) {
    return std::get<CorrectnessResult>(reply_to(bug).result);
  }
  TimingResult time(const std::string& bug) {
    return std::get<TimingResult>(
        loop_.run(client_.time(kernel(bug), "mission", CheckKind::kQuick, 1e9)).result);
  }

  std::vector<std::string> events_;
  SessionSetup setup_;
  SystemLoop loop_;
  std::shared_ptr<CountingHost> host_ = std::make_shared<CountingHost>();
  DeviceClient client_;
};

TEST_F(DeviceClientTest, OthersGoOnWhileItIsSetUp) {
  int worked = 0;
  const auto work = [&]() -> Task<> {
    while (true) {
      ++worked;
      co_await loop_.wait({-1, 0, 0}, loop_.now() + Milliseconds(1));
    }
  };
  loop_.spawn(work());
  loop_.run(client_.set_up(setup_));
  loop_.end_all();
  EXPECT_GT(worked, 0);
  EXPECT_FALSE(check("none").rejection);
}

TEST_F(DeviceClientTest, ChecksTimesAndCompares) {
  EXPECT_EQ(client_.info().name, "fake GPU");
  const CorrectnessResult checked = check("none");
  EXPECT_FALSE(checked.rejection);
  EXPECT_EQ(checked.checks.size(), 15U);
  const auto timed = time("none");
  EXPECT_NEAR(timed.timing->p50_us, 5, 0.02);
  const auto pair = loop_.run(client_.compare(kernel("none"), kernel("none"), "mission"));
  EXPECT_EQ(std::get<PairResult>(pair.result).verdict(), 0);
  EXPECT_TRUE(events_.empty());
}

TEST_F(DeviceClientTest, AHangIsKilledAndTheNextRequestWorks) {
  const auto reply = reply_to("never_returns");
  ASSERT_TRUE(std::holds_alternative<WorkerFailure>(reply.result));
  EXPECT_THAT(std::get<WorkerFailure>(reply.result).reason,
              AllOf(HasSubstr("did not finish within 0.4 s"),
                    HasSubstr("while checking shape single, seed 1")));
  EXPECT_GE(reply.wall_ms, 400);
  ASSERT_EQ(events_.size(), 1U);
  EXPECT_THAT(events_[0], HasSubstr("device worker killed"));
  EXPECT_FALSE(check("none").rejection);
}

TEST_F(DeviceClientTest, ACrashIsToldAndTheNextRequestWorks) {
  const auto reply = reply_to("crashes");
  ASSERT_TRUE(std::holds_alternative<WorkerFailure>(reply.result));
  EXPECT_THAT(std::get<WorkerFailure>(reply.result).reason,
              HasSubstr("took its process down (signal 6 (Aborted))"));
  EXPECT_LT(reply.wall_ms, 400);
  EXPECT_FALSE(check("none").rejection);
}

TEST_F(DeviceClientTest, AWorkerFinishesTheRequestThatAStopAbandoned) {
  // Kernels that rest, so that the worker cannot answer before the client waits.
  for (const char* bug : {"rests", "rests_all_zero"}) {
    loop_.stop_when({nullptr, loop_.now()});
    EXPECT_THROW((void)loop_.run(client_.check(kernel(bug), CheckKind::kFull, {})), Interrupted);
    loop_.stop_when({});
    EXPECT_FALSE(check("none").rejection) << "the answer about '" << bug << "' is discarded";
  }
  EXPECT_EQ(host_->starts, 1);
  EXPECT_TRUE(events_.empty());
}

TEST_F(DeviceClientTest, AWorkerThatDoesNotFinishAnAbandonedRequestIsReplaced) {
  for (const char* bug : {"never_returns", "crashes", "illegal_address"}) {
    const int before = host_->starts;
    loop_.stop_when({nullptr, loop_.now()});
    EXPECT_THROW((void)loop_.run(client_.check(kernel(bug), CheckKind::kFull, {})), Interrupted);
    loop_.stop_when({});
    EXPECT_FALSE(check("none").rejection) << bug;
    EXPECT_EQ(host_->starts, before + 1) << bug;
  }
  EXPECT_TRUE(events_.empty()) << "no kernel is blamed";
}

/// Sets EVO_FAKE_STATE to a path in a new folder; the fake worker makes files with this prefix to
/// record that a failure has happened once.
class StateFile {
 public:
  StateFile() { setenv("EVO_FAKE_STATE", path().c_str(), 1); }
  ~StateFile() { unsetenv("EVO_FAKE_STATE"); }

 private:
  [[nodiscard]] std::string path() const { return folder_.path() / "state"; }
  sample::TemporaryFolder folder_;
};

class DeviceClientOnceTest : public StateFile, public DeviceClientTest {};

TEST_F(DeviceClientOnceTest, AWorkerThatSomebodyKillsCostsNoKernel) {
  const CorrectnessResult result = check("is_killed_once");
  EXPECT_FALSE(result.rejection.has_value());
  ASSERT_EQ(events_.size(), 1U);
  EXPECT_THAT(events_[0], AllOf(HasSubstr("device worker replaced"), HasSubstr("signal 9"),
                                HasSubstr("run once more")));
}

TEST_F(DeviceClientOnceTest, AWorkerThatSomebodyStopsCostsNoKernel) {
  const CorrectnessResult result = check("is_stopped_once");
  EXPECT_FALSE(result.rejection.has_value());
  ASSERT_EQ(events_.size(), 1U);
  EXPECT_THAT(events_[0], HasSubstr("stopped by a signal from outside"));
}

TEST_F(DeviceClientTest, AKernelThatEndsTwoWorkersIsBlamed) {
  for (const auto& [bug, why] : {std::pair("is_killed", "had its process killed (signal 9"),
                                 std::pair("eats_memory", "ran out of memory"),
                                 std::pair("crashes", "took its process down (signal 6")}) {
    events_.clear();
    const auto reply = reply_to(bug);
    ASSERT_TRUE(std::holds_alternative<WorkerFailure>(reply.result)) << bug;
    EXPECT_THAT(std::get<WorkerFailure>(reply.result).reason,
                AllOf(HasSubstr(why), HasSubstr("twice")));
    EXPECT_EQ(events_.size(), 2U) << bug;
    EXPECT_FALSE(check("none").rejection) << bug;
  }
}

TEST_F(DeviceClientTest, AnErrorOfTheMachineEndsTheRunOnlyWhileNothingHasWorked) {
  EXPECT_THROW((void)reply_to("fails_on_the_host"), Error);
  EXPECT_FALSE(check("none").rejection);
  const auto reply = reply_to("fails_on_the_host");
  ASSERT_TRUE(std::holds_alternative<WorkerFailure>(reply.result));
  EXPECT_THAT(std::get<WorkerFailure>(reply.result).reason,
              HasSubstr("a call of the driver failed"));
  EXPECT_FALSE(check("none").rejection);
}

TEST_F(DeviceClientTest, ALostDeviceIsReplacedWithTheSameSetup) {
  const std::uint64_t seed = check("none").checks.front().seed;
  const CorrectnessResult lost = check("illegal_address");
  ASSERT_TRUE(lost.rejection.has_value());
  EXPECT_TRUE(lost.device_lost);
  EXPECT_THAT(lost.rejection->reason, HasSubstr("illegal address"));
  ASSERT_EQ(events_.size(), 1U);
  EXPECT_THAT(events_[0], HasSubstr("device worker replaced"));
  const CorrectnessResult next = check("none");
  EXPECT_FALSE(next.rejection);
  EXPECT_EQ(next.checks.front().seed, seed);
}

TEST_F(DeviceClientTest, AKernelRightOnceAndWrongLaterIsFoundAfterTiming) {
  EXPECT_FALSE(check("wrong_later").rejection);
  const auto timed = time("wrong_later");
  ASSERT_TRUE(timed.rejection.has_value());
  EXPECT_EQ(timed.rejection->gate, Gate::kCorrectness);
  EXPECT_THAT(timed.rejection->reason, testing::StartsWith("timed launches, "));
}

TEST_F(DeviceClientTest, AKernelTheDeviceCannotLoadIsARejection) {
  const CorrectnessResult result = check("of_another_world");
  ASSERT_TRUE(result.rejection.has_value());
  EXPECT_THAT(result.rejection->reason, HasSubstr("of_another_world"));
}

TEST_F(DeviceClientTest, ManyKernelsFitThoughOnlyAFewStayLoaded) {
  for (const char* bug : {"none", "all_zero", "leaves_nan", "stale", "skips_tail", "knows_inputs",
                          "changes_input", "out_of_bounds_after", "out_of_bounds_before", "none"}) {
    EXPECT_EQ(check(bug).rejection.has_value(), std::string(bug) != "none") << bug;
  }
}

TEST(DeviceClient, ErrorsOfTheWorkerKeepTheirMeaning) {
  SystemLoop loop;
  const auto open = [&](const std::string& program, const std::string& id) {
    DeviceClient client(loop, program, id, Milliseconds(0), {});
    client.wait_until_open();
  };
  try {
    open(fake_worker_file(), "fake:none");
    FAIL() << "an unknown device was opened";
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), ExitCode::kBadInput);
    EXPECT_THAT(error.what(), HasSubstr("fake:none"));
  }
  EXPECT_THROW(open("/bin/false", "fake:measured"), MissingError);
}

}  // namespace
}  // namespace evo
