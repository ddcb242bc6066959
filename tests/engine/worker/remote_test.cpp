// Tests workers on other hosts: the gateway and the workers of the program evo-worker, connected
// over the loopback interface, with the fake compiler and the fake device.

#include "engine/core/error.hpp"
#include "engine/core/json_reader.hpp"
#include "tests/db/sample.hpp"
#include "tests/engine/worker/remote_fixture.hpp"

namespace evo::remote {
namespace {

using testing::HasSubstr;
using Milliseconds = std::chrono::milliseconds;
using std::chrono::steady_clock;

TEST_F(RemoteTest, ADeviceChecksTimesAndOutlivesItsKernels) {
  const auto lent = lend({"device", "fake:measured"});
  std::vector<std::string> events;
  DeviceClient client(loop_, joined(), "fake:measured", Milliseconds(1000),
                      [&](const std::string& kind, const std::string&) { events.push_back(kind); });
  loop_.run(client.open());
  loop_.run(client.set_up(planted_setup()));
  EXPECT_EQ(client.info().host, "node1");
  const auto check = [&](const std::string& bug) {
    return loop_.run(client.check(kernel(bug), CheckKind::kFull, {})).result;
  };
  EXPECT_FALSE(std::get<CorrectnessResult>(check("none")).rejection);
  EXPECT_THAT(std::get<WorkerFailure>(check("never_returns")).reason, HasSubstr("did not finish"));
  EXPECT_THAT(std::get<WorkerFailure>(check("crashes")).reason, HasSubstr("signal 6"));
  EXPECT_FALSE(std::get<CorrectnessResult>(check("none")).rejection);
}

TEST_F(RemoteTest, CompilersOfOtherHostsJoinAndAKilledOneCostsNothing) {
  std::vector<std::string> events;
  CompilePool pool(loop_, program("fake-worker"),
                   {.jobs = 1,
                    .limit = Milliseconds(20000),
                    .on_event = [&](const auto& kind, const auto&) { events.push_back(kind); }});
  auto lent = lend({"compile", "--jobs", "3"});
  for (int i = 0; i < 3; ++i) loop_.run(pool.add(joined(), 0));
  EXPECT_TRUE(events.empty());
  int done = 0;
  Event changed(loop_);
  const auto compile = [&](int tag) -> Task<> {
    const auto finished = co_await pool.compile(request("none", tag));
    const auto& compiled = std::get<Compiled>(finished.outcome);
    EXPECT_EQ(fake::from_ptx(compiled.ptx).defines.at("TAG"), std::to_string(tag));
    EXPECT_TRUE(finished.reproducible);
    ++done;
    changed.notify();
  };
  const auto all = [&]() -> Task<> {
    for (int tag = 0; tag < 60; ++tag) loop_.spawn(compile(tag));
    while (done < 20) co_await changed.wait();
    lent.reset();  // the host leaves during the work
    while (done < 60) co_await changed.wait();
  };
  loop_.run(all());
}

TEST_F(RemoteTest, ACrashOfACompilerIsToldAsAtHome) {
  CompilePool pool(loop_, program("fake-worker"), {.jobs = 1, .limit = Milliseconds(1000)});
  const auto lent = lend({"compile", "--jobs", "1"});
  loop_.run(pool.add(joined(), 0));
  for (const std::string bug : {"crashes_compiler", "hangs_compiler"}) {
    std::vector<std::string> reasons;
    Event changed(loop_);
    const auto one = [&](int tag) -> Task<> {
      const auto finished = co_await pool.compile(request(bug, tag));
      reasons.push_back(std::get<Rejection>(finished.outcome).reason);
      changed.notify();
    };
    const auto both = [&]() -> Task<> {  // one worker on this machine and one on the other host
      loop_.spawn(one(1));
      loop_.spawn(one(2));
      while (reasons.size() < 2) co_await changed.wait();
    };
    loop_.run(both());
    EXPECT_EQ(reasons[0], reasons[1]);
  }
}

TEST_F(RemoteTest, WorkersEndWithTheRun) {
  const auto lent = lend({"host", "--device", "fake:measured", "--jobs", "2"});
  for (int i = 0; i < 3; ++i) (void)joined();
  const auto begin = steady_clock::now();
  gate_.reset();
  EXPECT_EQ(lent->exit_code(), 0);
  EXPECT_LT(steady_clock::now() - begin, std::chrono::seconds(10));
}

TEST_F(RemoteTest, WorkersOfARunThatFallsSilentEndAsWell) {
  const auto lent = lend({"compile", "--jobs", "2"});
  for (int i = 0; i < 2; ++i) (void)joined();
  kill(gate_->process(), SIGSTOP);
  const auto begin = steady_clock::now();
  EXPECT_NE(lent->exit_code(), 0);
  EXPECT_LT(steady_clock::now() - begin, std::chrono::seconds(10));
}

TEST_F(RemoteTest, AWorkerThatFallsSilentHasLeft) {
  const auto lent = lend({"compile", "--jobs", "1"});
  const auto host = joined();
  kill(host->identity().process, SIGSTOP);
  EXPECT_THAT(std::get<WorkerGate::Left>(next()).why, HasSubstr("sent no message"));
}

TEST_F(RemoteTest, NobodyComesInWithoutTheKey) {
  Lent stranger({"compile", "--connect", gate_->address()}, make_run_key());
  EXPECT_EQ(stranger.exit_code(), 2);
  EXPECT_THAT(refused(), HasSubstr("does not have the key of this run"));
}

TEST_F(RemoteTest, AnotherVersionIsRefusedWithBothNames) {
  FrameStream wire(dial(key_));
  WorkerIdentity identity;
  identity.version = "9.9.9";
  identity.role = "compile";
  ASSERT_TRUE(wire.send({{"hello", identity}}, FrameKind::kControl));
  std::optional<nlohmann::json> answer;
  for (int i = 0; i < 100 && !answer; ++i) {
    pollfd entry = wire.interest();
    ::poll(&entry, 1, 50);
    answer = wire.poll();
  }
  ASSERT_TRUE(answer.has_value());
  EXPECT_THAT(answer->at("refused").get<std::string>(), HasSubstr("9.9.9"));
  EXPECT_THAT(answer->at("refused").get<std::string>(), HasSubstr("evo-tune 0."));
  EXPECT_THAT(refused(), HasSubstr("9.9.9"));
}

/// The client connects, sends nothing and keeps the connection open.
TEST_F(RemoteTest, AStrangerThatSaysNothingIsDropped) {
  const FileDescriptor socket = dial();
  EXPECT_THAT(refused(), HasSubstr("sent no message"));
}

TEST(RunKey, IsReadFromFilesThatNobodyElseMayRead) {
  const sample::TemporaryFolder folder;
  const std::string file = folder.path() / "key";
  const std::string key = make_run_key();
  write_file(file, key + "\n");
  std::filesystem::permissions(file, std::filesystem::perms(0600));
  unsetenv(kKeyVariable);
  setenv(kKeyFileVariable, file.c_str(), 1);
  EXPECT_EQ(key_of_environment(), key);
  std::filesystem::permissions(file, std::filesystem::perms(0640));
  EXPECT_THROW((void)key_of_environment(), InputError);
  unsetenv(kKeyFileVariable);
  EXPECT_THROW((void)key_of_environment(), InputError);
  EXPECT_NE(make_run_key(), key);
}

}  // namespace
}  // namespace evo::remote
