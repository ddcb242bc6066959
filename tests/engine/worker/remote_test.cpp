// Workers on another host: the real gateway and the real agents of evo-worker over the loopback,
// with the fake compiler and the fake device.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <fstream>
#include <thread>

#include "engine/core/error.hpp"
#include "engine/core/json_reader.hpp"
#include "engine/core/random.hpp"
#include "engine/worker/compile_pool.hpp"
#include "engine/worker/device_client.hpp"
#include "engine/worker/host_port.hpp"
#include "engine/worker/run_key.hpp"
#include "engine/worker/session_messages.hpp"
#include "engine/worker/tls.hpp"
#include "engine/worker/worker_gate.hpp"
#include "tests/db/sample.hpp"
#include "tests/fakes/fake_program.hpp"

namespace evo {
namespace {

using testing::HasSubstr;
using Milliseconds = std::chrono::milliseconds;
using std::chrono::steady_clock;

std::filesystem::path program(const std::string& name) {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / name;
}

/// A child process that acts as another host.
class Lent {
 public:
  Lent(std::vector<std::string> words, const std::string& key) {
    process_ = fork();
    if (process_ != 0) return;
    setenv(kKeyVariable, key.c_str(), 1);
    setenv("EVO_WORKER", program("fake-worker").c_str(), 1);
    setenv("EVO_HOST_NAME", "node1", 1);
    words.insert(words.begin(), program("evo-worker"));
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    execv(pointers[0], pointers.data());
    _exit(127);
  }
  ~Lent() {
    if (process_ > 0) {
      kill(process_, SIGKILL);
      (void)exit_code();
    }
  }
  Lent(const Lent&) = delete;
  Lent& operator=(const Lent&) = delete;

  /// Waits for the end.
  int exit_code() {
    int status = 0;
    waitpid(process_, &status, 0);
    process_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  pid_t process_ = -1;
};

class RemoteTest : public testing::Test {
 protected:
  ~RemoteTest() override { loop_.end_all(); }

  WorkerGate::Notice next() {
    for (int i = 0; i < 300; ++i) {
      if (auto notice = gate_->take()) return *std::move(notice);
      pollfd entry = gate_->interest();
      ::poll(&entry, 1, 100);
    }
    throw std::runtime_error("nothing happened");
  }
  /// The next worker that joins.
  std::shared_ptr<RemoteHost> joined() { return std::get<WorkerGate::Joined>(next()).host; }
  std::string refused() { return std::get<WorkerGate::Refused>(next()).text; }
  std::unique_ptr<Lent> lend(std::vector<std::string> words) {
    words.insert(words.end(), {"--connect", gate_->address()});
    return std::make_unique<Lent>(std::move(words), key_);
  }
  std::unique_ptr<ByteStream> dial(const std::string& key) {
    stranger_.emplace(TlsSide::kClient, key_bytes(key, "key"));
    return stranger_->over(connect_to(parse_host_port("", gate_->address()), 5000));
  }

  SystemLoop loop_;
  std::string key_ = make_run_key();
  std::optional<WorkerGate> gate_{std::in_place, program("evo-worker"), "127.0.0.1:0", key_};
  std::optional<TlsContext> stranger_;
};

KernelUnderTest kernel(const std::string& bug) {
  const fake::Program planted{"planted", {{"BUG", bug}}};
  return {"key of " + bug,
          {to_ptx(planted), "", {"planted"}},
          {{"THREADS", 128}, {"ITEMS", 2}},
          {"mission"}};
}

SessionSetup planted_setup() {
  const std::filesystem::path folder =
      std::filesystem::path(EVO_SOURCE_DIR) / "tests/planted/kernel_templates/planted";
  SessionSetup setup;
  setup.problem_text = read_text_file(folder / "problem.json");
  setup.problem_folder = folder.string();
  setup.template_name = "planted";
  setup.reference = {fake::to_ptx({"planted_reference", {}}), "", {"planted_reference"}};
  setup.check_seed = 11;
  return setup;
}

CompileRequest request(const std::string& bug, int tag = 0) {
  return {{"k.cu", "", {}}, {"k"}, "sm_90", {"-DBUG=" + bug, "-DTAG=" + std::to_string(tag)}};
}

TEST_F(RemoteTest, ADeviceChecksTimesAndOutlivesItsKernels) {
  const auto lent = lend({"device", "fake:measured"});
  std::vector<std::string> events;
  DeviceClient client(loop_, joined(), "fake:measured", Milliseconds(1000),
                      [&](const std::string& kind, const std::string&) { events.push_back(kind); });
  loop_.run(client.open());
  loop_.run(client.set_up(planted_setup()));
  EXPECT_EQ(client.info().host, "node1");
  const auto check = [&](const std::string& bug) {
    return loop_.run(client.check(kernel(bug), Effort::kFull, {})).result;
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
    lent.reset();  // the host goes, in the middle
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
    const auto both = [&]() -> Task<> {  // one here, one there
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
  EXPECT_THAT(std::get<WorkerGate::Left>(next()).why, HasSubstr("no sign of life"));
}

TEST_F(RemoteTest, NobodyComesInWithoutTheKey) {
  Lent stranger({"compile", "--connect", gate_->address()}, make_run_key());
  EXPECT_EQ(stranger.exit_code(), 2);
  EXPECT_THAT(refused(), HasSubstr("no key of this run"));
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

/// Resident memory, kilobytes.
long kilobytes_of(int process) {
  std::ifstream status("/proc/" + std::to_string(process) + "/status");
  for (std::string word; status >> word;) {
    long kilobytes = 0;
    if (word == "VmRSS:" && status >> kilobytes) return kilobytes;
  }
  return 0;
}

/// Random bytes before and after the handshake; frames that were changed or cut in the middle.
TEST_F(RemoteTest, NoiseIsRefusedAndHarmsNobody) {
  const auto lent = lend({"compile", "--jobs", "1"});
  const auto host = joined();
  signal(SIGPIPE, [](int) {});
  const long before = kilobytes_of(gate_->process());
  Random random(7);
  const WorkerIdentity identity;
  const auto greeting = encode_frame({{"hello", identity}}, FrameKind::kControl);
  int sent = 0;
  for (int round = 0; round < 400; ++round) {
    FileDescriptor socket = connect_to(parse_host_port("", gate_->address()), 5000);
    ASSERT_TRUE(socket.is_open());
    const bool has_key = round % 2 == 0;
    std::unique_ptr<ByteStream> bytes;
    if (has_key) {
      bytes = dial(key_);
    } else {
      bytes = std::make_unique<SocketStream>(std::move(socket));
    }
    FrameStream wire(std::move(bytes));
    // Many inputs per connection; the reader stops at the first invalid message.
    for (int i = 0; i < 250; ++i) {
      auto frame = greeting;
      for (std::uint64_t flips = 1 + random.below(8); flips > 0; --flips) {
        frame[random.below(frame.size())] = static_cast<std::uint8_t>(random.below(256));
      }
      frame.resize(1 + random.below(frame.size()));
      (void)wire.send_frame(frame);
      ++sent;
    }
    for (int i = 0; i < 3 && has_key; ++i) {
      pollfd entry = wire.interest();
      ::poll(&entry, 1, 5);
      try {
        (void)wire.poll();
      } catch (const Error&) {
      }
    }
  }
  EXPECT_EQ(sent, 100000);
  // The worker with the key still works.
  CompilePool pool(loop_, program("fake-worker"), {.jobs = 1, .limit = Milliseconds(20000)});
  loop_.run(pool.add(host, 0));
  EXPECT_FALSE(host->is_gone());
  EXPECT_LT(kilobytes_of(gate_->process()), before + 20000);
}

/// A stream that stops in the middle of a frame and stays open.
TEST_F(RemoteTest, AStrangerThatSaysNothingIsDropped) {
  const FileDescriptor socket = connect_to(parse_host_port("", gate_->address()), 5000);
  EXPECT_THAT(refused(), HasSubstr("no sign of life"));
}

TEST(RunKey, IsReadFromFilesThatNobodyElseMayRead) {
  const sample::TemporaryFolder folder;
  const std::string file = folder.path() / "key";
  const std::string key = make_run_key();
  write_key_file(file, key);
  unsetenv(kKeyVariable);
  setenv(kKeyFileVariable, file.c_str(), 1);
  EXPECT_EQ(key_of_environment(), key);
  EXPECT_THROW(write_key_file(file, key), InputError);
  std::filesystem::permissions(file, std::filesystem::perms(0640));
  EXPECT_THROW((void)key_of_environment(), InputError);
  unsetenv(kKeyFileVariable);
  EXPECT_THROW((void)key_of_environment(), InputError);
  EXPECT_NE(make_run_key(), key);
}

}  // namespace
}  // namespace evo
