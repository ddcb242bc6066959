#include "engine/worker/device_client.hpp"

#include "engine/core/at_end.hpp"
#include "engine/core/error.hpp"
#include "engine/worker/messages.hpp"
#include "engine/worker/session_messages.hpp"

namespace evo {
namespace {

constexpr std::chrono::milliseconds kCallLimit{120000};  // to open a device or set up a problem
constexpr const char* kDriverStep =
    "\nnext step: evo-tune doctor shows which part of the driver fails; "
    "nvidia-smi and sudo dmesg show more\nwithout the GPU: --device virtual:l4 predicts times";
constexpr std::chrono::milliseconds kMeasuredStep{10000};
constexpr std::chrono::milliseconds kPredictedStep{300000};

/// Throws the error that a worker reported, with its original exit code.
[[noreturn]] void rethrow(const nlohmann::json& message) {
  throw Error(static_cast<ExitCode>(message.at("code").get<int>()),
              message.at("error").get<std::string>());
}

constexpr const char* kNoMessage = "caused its worker process to send an invalid message";

}  // namespace

DeviceClient::DeviceClient(EventLoop& loop, std::filesystem::path program, std::string device_id,
                           std::chrono::milliseconds step_limit, EventSink on_event,
                           WorkerPriority priority)
    : DeviceClient(loop, std::make_shared<LocalHost>(std::move(program)), std::move(device_id),
                   step_limit, std::move(on_event), priority) {}

DeviceClient::DeviceClient(EventLoop& loop, std::shared_ptr<WorkerHost> host, std::string device_id,
                           std::chrono::milliseconds step_limit, EventSink on_event,
                           WorkerPriority priority)
    : loop_(loop),
      host_(std::move(host)),
      device_id_(std::move(device_id)),
      step_limit_(step_limit),
      on_event_(std::move(on_event)),
      priority_(priority) {
  start_process();
  (void)process_->send({{"op", "info"}});
}

DeviceClient::~DeviceClient() {
  constexpr std::chrono::milliseconds kLimit{5000};
  if (process_ && !is_busy_ && !owes_answer_) process_->finish(kLimit);
}

void DeviceClient::tell(const std::string& kind, const std::string& text) const {
  if (on_event_) on_event_(kind, text);
}

std::vector<std::string> DeviceClient::arguments() const {
  std::vector<std::string> arguments = {"device", device_id_};
  if (priority_ == WorkerPriority::kSpare) arguments.emplace_back("--spare");
  return arguments;
}

void DeviceClient::start_process() {
  process_ = host_->start(arguments(), {});
  owes_answer_ = false;
}

void DeviceClient::wait_until_open() {
  std::optional<nlohmann::json> reply;
  for (int attempt = 1; !reply; ++attempt) {
    reply = checked(process_->wait(kCallLimit), attempt);
    if (reply) break;
    start_process();
    (void)process_->send({{"op", "info"}});
  }
  take_info(*reply);
}

Task<> DeviceClient::open() {
  for (int attempt = 1;; ++attempt) {
    std::optional<nlohmann::json> answer = co_await reply_within(kCallLimit);
    const std::optional<nlohmann::json> reply = checked(std::move(answer), attempt);
    if (reply) {
      take_info(*reply);
      co_return;
    }
    start_process();
    (void)process_->send({{"op", "info"}});
  }
}

void DeviceClient::take_info(const nlohmann::json& reply) {
  info_ = reply.at("info").get<DeviceInfo>();
  info_.host = host_->name();
  device_id_ = info_.id;  // replaces "auto", so that a restart opens the same device
  if (step_limit_.count() == 0) {
    step_limit_ = info_.time_kind == TimeKind::kMeasured ? kMeasuredStep : kPredictedStep;
  }
}

/// Waits for a reply of the worker process; nullopt if the process has ended or `limit` has passed.
Task<std::optional<nlohmann::json>> DeviceClient::reply_within(std::chrono::milliseconds limit) {
  const SteadyTime deadline = loop_.now() + limit;
  std::optional<nlohmann::json> reply = process_->poll();
  while (!reply && process_->is_open() && loop_.now() < deadline) {
    co_await loop_.wait(process_->interest(), deadline);
    reply = process_->poll();
  }
  co_return reply;
}

std::optional<nlohmann::json> DeviceClient::checked(std::optional<nlohmann::json> reply,
                                                    int attempt) {
  constexpr int kAttempts = 3;
  if (!reply) {
    const Ending ending = process_->kill();
    process_.reset();
    if (!ending.killed_from_outside) {
      const bool is_virtual = device_id_.starts_with("virtual:");
      throw MissingError("the device worker for " + device_id_ +
                         " does not answer: " + ending.text + (is_virtual ? "" : kDriverStep));
    }
    tell("device worker killed", "another process killed the worker while it was starting");
    if (attempt < kAttempts) return std::nullopt;
    throw MissingError(
        "the device worker for " + device_id_ +
        " is killed whenever it starts; sudo dmesg shows whether the system ran out of memory");
  }
  if (reply->contains("out_of_memory")) {
    throw MissingError("the device worker for " + device_id_ + " needs more memory (limit " +
                       reply->at("out_of_memory").get<std::string>() +
                       "); next step: use a smaller shape or a machine with more memory");
  }
  if (reply->contains("error")) rethrow(*reply);
  return reply;
}

Task<> DeviceClient::send_setup() {
  bool is_over = false;
  const AtEnd abandon([&] {
    if (!is_over) process_.reset();
  });
  for (int attempt = 1;; ++attempt) {
    if (owes_answer_) process_.reset();
    if (!process_) start_process();
    (void)process_->send(*setup_);
    std::optional<nlohmann::json> reply = co_await reply_within(kCallLimit);
    is_over = true;
    if (checked(std::move(reply), attempt)) co_return;
    is_over = false;
  }
}

Task<> DeviceClient::set_up(SessionSetup setup) {
  setup_ = nlohmann::json{{"op", "setup"}, {"setup", setup}};
  co_await send_setup();
}

Task<Reply<CorrectnessResult>> DeviceClient::check(const KernelUnderTest& kernel,
                                                   CheckKind check_kind,
                                                   std::vector<double> limits_us) {
  return ask<CorrectnessResult>({{"op", "check"},
                                 {"kernel", kernel},
                                 {"check_kind", to_string(check_kind)},
                                 {"limits_us", limits_us}});
}

Task<Reply<TimingResult>> DeviceClient::time(const KernelUnderTest& kernel,
                                             const std::string& shape, CheckKind check_kind,
                                             double early_stop_us) {
  return ask<TimingResult>({{"op", "time"},
                            {"kernel", kernel},
                            {"shape", shape},
                            {"check_kind", to_string(check_kind)},
                            {"early_stop_us", early_stop_us}});
}

Task<Reply<EnergyResult>> DeviceClient::energy(const KernelUnderTest& kernel,
                                               const std::string& shape, double window_s) {
  return ask<EnergyResult>(
      {{"op", "energy"}, {"kernel", kernel}, {"shape", shape}, {"window_s", window_s}});
}

Task<Reply<PredictedProfile>> DeviceClient::profile(const KernelUnderTest& kernel,
                                                    const std::string& shape) {
  return ask<PredictedProfile>({{"op", "profile"}, {"kernel", kernel}, {"shape", shape}});
}

Task<Reply<LaunchOutcome>> DeviceClient::write_outputs(const KernelUnderTest& kernel,
                                                       const std::string& shape,
                                                       const std::string& folder) {
  return ask<LaunchOutcome>(
      {{"op", "outputs"}, {"kernel", kernel}, {"shape", shape}, {"folder", folder}});
}

Task<Reply<PairResult>> DeviceClient::compare(const KernelUnderTest& first,
                                              const KernelUnderTest& second,
                                              const std::string& shape) {
  return ask<PairResult>(
      {{"op", "compare"}, {"first", first}, {"second", second}, {"shape", shape}});
}

template <typename Result>
Task<Reply<Result>> DeviceClient::ask(nlohmann::json request) {
  if (!ranges_.empty()) request["ranges"] = ranges_;
  const SteadyTime started = loop_.now();
  is_busy_ = true;
  const AtEnd idle([this] { is_busy_ = false; });
  for (bool is_retry = false;; is_retry = true) {
    std::variant<nlohmann::json, Lost> outcome = co_await exchange(request);
    if (const auto* message = std::get_if<nlohmann::json>(&outcome)) {
      if (auto result = result_of<Result>(*message)) {
        co_return Reply<Result>{*std::move(result), milliseconds_between(started, last_sign_)};
      }
      outcome = Lost{kNoMessage};
    }
    const Lost lost = std::get<Lost>(std::move(outcome));
    process_.reset();
    if (!is_retry && !lost.is_final) {
      tell("device worker replaced", "a kernel " + lost.why + "; the kernel is run once more");
      continue;
    }
    const std::string why = lost.is_final ? lost.why : lost.why + ", twice";
    tell("device worker killed", "a kernel " + why);
    const double wall_ms = milliseconds_between(started, loop_.now());
    if (lost.is_final) co_await start();  // throws if a new process cannot use the device either
    co_return Reply<Result>{WorkerFailure{why}, wall_ms};
  }
}

template <typename Result>
std::optional<Result> DeviceClient::result_of(const nlohmann::json& message) {
  try {
    Result result = message.get<Result>();
    has_answered_ = true;
    if (message.value("device_lost", false)) {
      tell("device worker replaced", "a kernel left the device unusable while " + step_);
      process_.reset();
    }
    return result;
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

Task<> DeviceClient::start() {
  start_process();
  if (setup_) co_await send_setup();
}

Task<std::variant<nlohmann::json, DeviceClient::Lost>> DeviceClient::exchange(
    const nlohmann::json& request) {
  if (process_ && owes_answer_) co_await finish_abandoned();
  if (!process_) co_await start();
  step_ = "loading the kernel";
  last_sign_ = loop_.now();
  (void)process_->send(request);  // if the worker is gone, take_message() reports it
  bool is_over = false;
  const AtEnd abandon([&] {
    if (!is_over) process_.reset();  // a launch ends only with its process
  });
  while (true) {
    if (auto outcome = take_message()) {
      is_over = true;
      co_return *std::move(outcome);
    }
    try {
      co_await loop_.wait(process_->interest(), last_sign_ + step_limit_);
    } catch (const Interrupted&) {
      is_over = owes_answer_ = true;
      throw;
    }
  }
}

/// Waits until the worker has answered the abandoned request, because a new process would have to
/// open the device and to compute the expected outputs again. Ends a worker that does not answer
/// within kLimit, or that is unusable after its answer.
Task<> DeviceClient::finish_abandoned() {
  constexpr std::chrono::milliseconds kLimit{1000};
  const SteadyTime deadline = loop_.now() + kLimit;
  while (true) {
    while (const auto message = next_message()) {
      if (message->contains("progress")) continue;
      const bool is_lost = message->contains("device_lost") && message->at("device_lost") == true;
      if (is_lost || message->contains("error") || message->contains("out_of_memory")) {
        process_.reset();
      }
      owes_answer_ = false;
      co_return;
    }
    if (!process_->is_open() || loop_.now() >= deadline) break;
    co_await loop_.wait(process_->interest(), deadline);
  }
  process_.reset();
  owes_answer_ = false;
}

std::optional<nlohmann::json> DeviceClient::next_message() {
  try {
    return process_->poll();
  } catch (const std::exception&) {
    (void)process_->kill();  // invalid messages make the process unusable
    return std::nullopt;
  }
}

/// The answer of the worker; nullopt while the worker is busy and sends progress messages.
std::optional<std::variant<nlohmann::json, DeviceClient::Lost>> DeviceClient::take_message() {
  try {
    while (auto message = next_message()) {
      last_sign_ = loop_.now();
      if (!message->contains("progress")) return answer_of(*std::move(message));
      step_ = message->at("progress").get<std::string>();
    }
  } catch (const nlohmann::json::exception&) {
    return Lost{kNoMessage};
  }
  if (process_->is_open() && loop_.now() < last_sign_ + step_limit_) return std::nullopt;
  return take_ending();
}

std::variant<nlohmann::json, DeviceClient::Lost> DeviceClient::answer_of(nlohmann::json message) {
  if (message.contains("out_of_memory")) {
    return Lost{"ran out of memory (limit " + message.at("out_of_memory").get<std::string>() +
                ") while " + step_};
  }
  if (!message.contains("error")) return message;
  // If a request has succeeded before, a missing device means that the worker lost it. All other
  // errors are thrown, because the problem or the machine may cause them.
  const auto code = static_cast<ExitCode>(message.at("code").get<int>());
  if (!has_answered_ || code != ExitCode::kMissing) rethrow(message);
  return Lost{"failed while " + step_ + ": " + message.at("error").get<std::string>()};
}

DeviceClient::Lost DeviceClient::take_ending() {
  const bool hung = process_->is_open();
  if (!process_->is_running()) return {kNoMessage};
  const Ending ending = process_->kill();
  if (ending.killed_from_outside) {
    return {"had its process killed (" + ending.text + ") while " + step_};
  }
  if (hung) {
    return {"did not finish within " + seconds_text(step_limit_) + " while " + step_ +
                " (a deadlock or an endless loop?); it was killed",
            true};
  }
  return {"took its process down (" + ending.text + ") while " + step_};
}

}  // namespace evo
