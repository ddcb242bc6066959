// Tests clients that send unexpected data to the gateway: clients without the run's key, clients
// with the key, and workers.

#include <atomic>
#include <fstream>
#include <functional>
#include <thread>

#include "engine/core/environment.hpp"
#include "engine/core/error.hpp"
#include "engine/evaluate/workforce.hpp"
#include "tests/engine/worker/noise.hpp"
#include "tests/engine/worker/remote_fixture.hpp"

namespace evo::remote {
namespace {

using testing::HasSubstr;
using Milliseconds = std::chrono::milliseconds;

using Frame = std::vector<std::uint8_t>;
using Frames = std::vector<Frame>;

/// A worker that has the run's key and sends the answers that the test chooses.
class Liar {
 public:
  /// A function from a message or control message of the run to the frames with which the worker
  /// answers.
  using Answers = std::function<Frames(const nlohmann::json&)>;

  Liar(std::unique_ptr<ByteStream> bytes, const std::string& role, Answers answers)
      : thread_([this, role, wire = std::make_shared<FrameStream>(std::move(bytes)),
                 answers = std::move(answers)] { serve(*wire, role, answers); }) {}
  ~Liar() {
    is_over_ = true;
    thread_.join();
  }
  Liar(const Liar&) = delete;
  Liar& operator=(const Liar&) = delete;

 private:
  void serve(FrameStream& wire, const std::string& role, const Answers& answers) const {
    WorkerIdentity identity;
    identity.version = EVO_TEST_VERSION;
    identity.role = role;
    identity.host = "liar";
    identity.device = "fake:measured";
    (void)wire.send({{"hello", identity}}, FrameKind::kControl);
    while (!is_over_ && wire.is_open()) {
      pollfd entry = wire.interest();
      ::poll(&entry, 1, 20);
      while (const auto message = wire.poll()) {
        if (message->value("op", std::string()) == "kill") {
          const nlohmann::json how = {
              {"killed_from_outside", false}, {"text", "killed"}, {"exit_code", -1}};
          (void)wire.send({{"ended", how}}, FrameKind::kControl);
          continue;
        }
        for (const auto& frame : answers(*message)) (void)wire.send_frame(frame);
      }
    }
  }

  std::atomic<bool> is_over_ = false;
  std::thread thread_;
};

Frame damaged() {
  auto frame = encode_frame({{"compiled", 1}});
  frame[9] = 0xC1;  // MessagePack has no type 0xC1
  return frame;
}

/// Names of tests, and the invalid answers that compile workers send in these tests.
const std::vector<std::pair<std::string, Frame>> kNonsense = {
    {"NoMessage", damaged()},
    {"ALength", Frame{0xFF, 0xFF, 0xFF, 0x7F}},
    {"AnotherShape", encode_frame({{"compiled", {{"ptx", 5}}}})},
    {"NoObject", encode_frame(nlohmann::json::array({1, 2}))},
    {"AnErrorThatIsNoText", encode_frame({{"error", 5}})},
    {"AnError", encode_frame({{"error", "no space left"}})},
    {"AnEndingWithoutText", encode_frame({{"ended", 5}}, FrameKind::kControl)},
    {"ATimeThatIsNone", encode_frame({{"time_ns", "x"}}, FrameKind::kControl)},
};

class Nonsense : public RemoteTest, public testing::WithParamInterface<std::size_t> {
 protected:
  [[nodiscard]] const Frame& frame() const { return kNonsense.at(GetParam()).second; }
};

INSTANTIATE_TEST_SUITE_P(Of, Nonsense, testing::Range<std::size_t>(0, kNonsense.size()),
                         [](const auto& one) { return kNonsense.at(one.param).first; });

TEST_P(Nonsense, OfACompilerCostsARetryElsewhere) {
  CompilePool pool(loop_, program("fake-worker"), {.jobs = 1, .limit = Milliseconds(20000)});
  const Liar liar(dial(key_), "compile", [&](const nlohmann::json& message) {
    const std::string op = message.value("op", std::string());
    if (op == "version") return Frames{encode_frame({{"version", "fake 1.0"}})};
    return op == "compile" ? Frames{frame()} : Frames{};
  });
  loop_.run(pool.add(joined(), 0));
  int done = 0;
  Event changed(loop_);
  const auto compile = [&](int tag) -> Task<> {
    const auto finished = co_await pool.compile(request("none", tag));
    EXPECT_TRUE(std::holds_alternative<Compiled>(finished.outcome));
    ++done;
    changed.notify();
  };
  const auto all = [&]() -> Task<> {  // one worker on this machine and one on the other host
    for (int tag = 0; tag < 2; ++tag) loop_.spawn(compile(tag));
    while (done < 2) co_await changed.wait();
  };
  loop_.run(all());
}

TEST_P(Nonsense, InPlaceOfAVersionIsRefused) {
  std::vector<std::string> events;
  CompilePool pool(loop_, program("fake-worker"),
                   {.jobs = 1,
                    .limit = Milliseconds(2000),
                    .on_event = [&](const auto& kind, const auto&) { events.push_back(kind); }});
  const Liar liar(dial(key_), "compile", [&](const nlohmann::json& message) {
    return message.contains("op") ? Frames{frame()} : Frames{};
  });
  const auto host = joined();
  loop_.run(pool.add(host, 0));
  EXPECT_EQ(events, std::vector<std::string>{"worker refused"});
  EXPECT_TRUE(host->is_gone());
}

TEST_P(Nonsense, OfADeviceIsRefusedBeforeItIsTaken) {
  std::vector<std::string> events;
  WorkforceOptions options;
  options.step_limit = Milliseconds(2000);
  options.on_event = [&](const auto& kind, const auto&) { events.push_back(kind); };
  std::optional<Liar> liar;
  liar.emplace(dial(key_), "device", [&](const nlohmann::json& message) {
    return message.contains("op") ? Frames{frame()} : Frames{};
  });
  const auto why_none = [&] { return events.empty() ? std::string() : "only liars came"; };
  EXPECT_THROW((void)loop_.run(first_device(loop_, *gate_, options, why_none)), MissingError);
  EXPECT_EQ(events.back(), "worker refused");
}

TEST_P(Nonsense, OfADeviceThatWorksNeverBecomesAResult) {
  const Liar liar(dial(key_), "device", [&](const nlohmann::json& message) {
    const std::string op = message.value("op", std::string());
    if (op == "info") return Frames{encode_frame({{"info", DeviceInfo{}}})};
    if (op == "setup") return Frames{encode_frame(nlohmann::json::object())};
    return op == "check" ? Frames{frame()} : Frames{};
  });
  DeviceClient client(loop_, joined(), "fake:measured", Milliseconds(2000), {});
  loop_.run(client.open());
  loop_.run(client.set_up(planted_setup()));
  try {
    const auto reply = loop_.run(client.check(kernel("none"), CheckKind::kFull, {}));
    EXPECT_TRUE(std::holds_alternative<WorkerFailure>(reply.result));
  } catch (const Error& error) {  // the device counts as lost
    EXPECT_EQ(error.exit_code(), ExitCode::kMissing);
  }
}

/// The resident memory of a process in kilobytes; 0 if it is unknown.
long kilobytes_of(int process) {
  std::ifstream status("/proc/" + std::to_string(process) + "/status");
  for (std::string word; status >> word;) {
    long kilobytes = 0;
    if (word == "VmRSS:" && status >> kilobytes) return kilobytes;
  }
  return 0;
}

TEST_F(RemoteTest, NoiseIsRefusedAndHarmsNobody) {
  // The gateway's memory is measured, so the address sanitizer must not keep freed memory in its
  // quarantine.
  const std::string options_of_asan = environment_variable("ASAN_OPTIONS").value_or("");
  setenv("ASAN_OPTIONS", (options_of_asan + ":quarantine_size_mb=1").c_str(), 1);
  gate_.emplace(program("evo-worker"), "127.0.0.1:0", key_);
  const auto lent = lend({"compile", "--jobs", "1"});
  CompilePool pool(loop_, program("fake-worker"), {.jobs = 1, .limit = Milliseconds(20000)});
  const auto host = joined();
  loop_.run(pool.add(host, 0));
  const long before = kilobytes_of(gate_->process());
  const NoiseOptions options{parse_host_port("", gate_->address()), key_, EVO_TEST_VERSION, 1000};
  const NoiseCount count = send_noise(options);
  EXPECT_EQ(count.frames(), 1000);
  EXPECT_GT(count.closed, 50);
  const auto compiled = loop_.run(pool.compile(request("none")));
  EXPECT_TRUE(std::holds_alternative<Compiled>(compiled.outcome));
  EXPECT_FALSE(host->is_gone());
  EXPECT_LT(kilobytes_of(gate_->process()), before + 20000);
}

}  // namespace
}  // namespace evo::remote
