#include "engine/worker/agent.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <optional>
#include <thread>

#include "engine/core/environment.hpp"
#include "engine/worker/lease.hpp"
#include "engine/worker/limits.hpp"
#include "engine/worker/process.hpp"
#include "engine/worker/run_key.hpp"
#include "engine/worker/tls.hpp"
#include "engine/worker/worker_identity.hpp"

namespace evo {
namespace {

using Clock = std::chrono::steady_clock;
using nlohmann::json;

/// Time limit of the first connection to the coordinator, which may not listen yet, and the pause
/// between two attempts to connect.
constexpr std::chrono::seconds kFirstDial{30};
constexpr std::chrono::milliseconds kBetweenDials{200};

/// How the connection to the coordinator ended.
enum class Outcome { kDismissed, kRefused, kLost };

/// An agent: the connection to the coordinator, and the worker process that the agent controls.
class Agent {
 public:
  Agent(const AgentOptions& options, WorkerIdentity identity)
      : options_(options),
        identity_(std::move(identity)),
        tls_(TlsSide::kClient, key_bytes(options.key, "the key")) {}

  int serve() {
    auto deadline = Clock::now() + kFirstDial;
    while (true) {
      FileDescriptor socket = dial(deadline);
      if (!socket.is_open()) {
        tell("no answer from " + to_string(options_.coordinator) +
             "; check that a run listens at this address");
        return static_cast<int>(ExitCode::kMissing);
      }
      const Outcome outcome = serve(std::move(socket), deadline);
      process_.reset();
      if (outcome == Outcome::kDismissed) return 0;
      if (outcome == Outcome::kRefused) return static_cast<int>(ExitCode::kBadInput);
      if (is_welcome_) deadline = last_sign_ + kGiveUpAfter;
      std::this_thread::sleep_for(kBetweenDials);
    }
  }

 private:
  [[nodiscard]] FileDescriptor dial(Clock::time_point deadline) const {
    while (Clock::now() < deadline) {
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
      FileDescriptor socket = connect_to(options_.coordinator,
                                         static_cast<int>(std::max<std::int64_t>(left.count(), 1)));
      if (socket.is_open()) return socket;
      std::this_thread::sleep_for(std::min(kBetweenDials, left));
    }
    return {};
  }

  /// `deadline`: the time until which the coordinator must have accepted the worker.
  Outcome serve(FileDescriptor socket, Clock::time_point deadline) {
    FrameStream wire(tls_.over(std::move(socket)));
    is_welcome_ = false;
    (void)wire.send({{"hello", identity_}}, FrameKind::kControl);
    try {
      while (true) {
        if (const auto outcome = take_all(wire)) return *outcome;
        give_all(wire);
        if (!wire.is_open()) return lost(wire);
        if (Clock::now() > (is_welcome_ ? last_sign_ + kLease : deadline)) return Outcome::kLost;
        if (is_welcome_ && Clock::now() > last_beat_ + kBeatEvery) {
          (void)wire.send({{"beat", 1}}, FrameKind::kControl);
          last_beat_ = Clock::now();
        }
        wait(wire);
      }
    } catch (const Error& error) {
      tell(error.what());  // for example, an invalid frame
      return Outcome::kLost;
    }
  }

  Outcome lost(const FrameStream& wire) const {
    if (!wire.was_refused()) return Outcome::kLost;
    tell("the coordinator refuses this worker; check that it has the key of the run");
    return Outcome::kRefused;
  }

  /// Forwards the coordinator's frames for the worker process, and obeys the coordinator's control
  /// messages.
  std::optional<Outcome> take_all(FrameStream& wire) {
    wire.write_waiting();
    while (!process_ || process_->waiting_bytes() <= kMostWaitingBytes) {
      const auto frame = wire.poll_frame();
      if (!frame) break;
      last_sign_ = Clock::now();
      if (kind_of(*frame) == FrameKind::kMessage) {
        if (process_) (void)process_->send_frame(*frame);
      } else if (const auto outcome = obey(wire, decode_frame(*frame))) {
        return outcome;
      }
    }
    return std::nullopt;
  }

  std::optional<Outcome> obey(FrameStream& wire, const json& order) {
    if (order.contains("refused")) {
      tell("refused: " + order.at("refused").get<std::string>());
      return Outcome::kRefused;
    }
    if (order.contains("welcome")) is_welcome_ = true;
    const std::string op = order.value("op", std::string());
    if (op == "end") return Outcome::kDismissed;
    if (op == "start") {
      process_.emplace(
          options_.program, order.at("arguments").get<std::vector<std::string>>(),
          WorkerLimits{order.at("memory_bytes").get<std::uint64_t>(),
                       order.at("writes_files").get<bool>(), order.at("gives_way").get<bool>()});
    }
    if (op == "finish" && process_) {
      process_->finish(std::chrono::milliseconds(order.at("limit_ms").get<int>()));
      end_process(wire);
    }
    if (op == "kill" && process_) end_process(wire);
    if (op == "time") {
      const std::int64_t time_ns = process_ ? process_->processor_time().count() : 0;
      (void)wire.send({{"time_ns", time_ns}}, FrameKind::kControl);
    }
    return std::nullopt;
  }

  /// Forwards frames from the worker process to the coordinator, and reports how the process ended.
  void give_all(FrameStream& wire) {
    while (process_ && wire.waiting_bytes() <= kMostWaitingBytes) {
      std::optional<std::span<const std::uint8_t>> frame;
      try {
        frame = process_->poll_frame();
      } catch (const Error&) {
        end_process(wire);  // the process sent invalid data; also tells the coordinator
        return;
      }
      if (!frame) break;
      (void)wire.send_frame(*frame);
      last_beat_ = Clock::now();
    }
    if (process_ && !process_->is_open()) end_process(wire);
  }

  void end_process(FrameStream& wire) {
    const Ending ending = process_->kill();
    process_.reset();
    (void)wire.send({{"ended",
                      {{"killed_from_outside", ending.killed_from_outside},
                       {"text", ending.text},
                       {"exit_code", ending.exit_code}}}},
                    FrameKind::kControl);
  }

  void wait(const FrameStream& wire) const {
    std::array<pollfd, 2> entries = {wire.interest(), pollfd{-1, 0, 0}};
    if (process_) {
      entries[1] = process_->interest();
      if (process_->waiting_bytes() > kMostWaitingBytes) entries[0].events &= ~POLLIN;
      if (wire.waiting_bytes() > kMostWaitingBytes) entries[1].events &= ~POLLIN;
    }
    ::poll(entries.data(), entries.size(), static_cast<int>(kBeatEvery.count() / 3));
  }

  void tell(const std::string& text) const {
    std::fprintf(stderr, "evo-worker: %s worker on %s: %s\n", identity_.role.c_str(),
                 identity_.host.c_str(), text.c_str());
  }

  const AgentOptions& options_;
  WorkerIdentity identity_;
  TlsContext tls_;
  std::optional<WorkerProcess> process_;
  Clock::time_point last_sign_;
  Clock::time_point last_beat_;
  bool is_welcome_ = false;
};

std::string text_of(const char* variable) {
  return environment_variable(variable).value_or(std::string());
}

/// Returns the identity of a new worker. `device`: the device of a device worker; empty for a
/// compiler.
WorkerIdentity identity_of(const AgentOptions& options, const std::string& device) {
  WorkerIdentity identity;
  identity.version = options.version;
  identity.role = device.empty() ? "compile" : "device";
  identity.device = device;
  identity.host = host_name();
  // The name of the Slurm node replaces host_name(), which is the same for several nodes on one
  // machine.
  if (const auto node = environment_variable("SLURMD_NODENAME")) identity.host = *node;
  if (const auto name = environment_variable("EVO_HOST_NAME")) identity.host = *name;
  identity.gpus = text_of("CUDA_VISIBLE_DEVICES");
  identity.job = text_of("SLURM_JOB_ID");
  identity.step = text_of("SLURM_STEP_ID");
  identity.task = text_of("SLURM_PROCID");
  identity.nonce = make_run_key().substr(0, 16);
  identity.process = getpid();
  identity.memory_bytes = compiler_memory_bytes(options.compilers);
  return identity;
}

/// Starts the agent process of one worker.
pid_t begin(const AgentOptions& options, const std::string& device) {
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child != 0) return child;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  int code = static_cast<int>(ExitCode::kMissing);
  try {
    code = Agent(options, identity_of(options, device)).serve();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "evo-worker: %s\n", error.what());
  }
  _exit(code);
}

}  // namespace

int serve_run_elsewhere(const AgentOptions& options) {
  std::vector<std::string> all = options.devices;
  all.resize(all.size() + options.compilers);
  std::size_t begun = 0;
  for (const std::string& device : all) begun += begin(options, device) > 0 ? 1U : 0U;
  int code = begun == all.size() ? 0 : static_cast<int>(ExitCode::kMissing);
  for (std::size_t i = 0; i < begun; ++i) {
    int status = 0;
    while (wait(&status) < 0 && errno == EINTR) {
    }
    const int own = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (code == 0) code = own;
  }
  return code;
}

}  // namespace evo
