#include "engine/worker/device_client.hpp"

#include <poll.h>

#include <algorithm>

#include "engine/core/error.hpp"
#include "engine/worker/messages.hpp"
#include "engine/worker/session_messages.hpp"

namespace evo {
namespace {

constexpr std::chrono::milliseconds kCallLimit{120000};  // opening a device, setting up a problem
constexpr const char* kDriverStep =
    "\nnext step: evo-tune doctor shows which part of the driver fails; nvidia-smi and sudo dmesg "
    "say more\nwithout the GPU: --device virtual:l4 predicts times";
constexpr std::chrono::milliseconds kMeasuredStep{10000};
constexpr std::chrono::milliseconds kPredictedStep{300000};

/// Throws the error a worker reported, as what it was there.
[[noreturn]] void rethrow(const nlohmann::json& message) {
  throw Error(static_cast<ExitCode>(message.at("code").get<int>()),
              message.at("error").get<std::string>());
}

/// What a worker answered to a request. Throws nlohmann::json::exception for anything else.
decltype(DeviceClient::Reply::result) result_of(const std::string& operation,
                                                const nlohmann::json& message) {
  if (operation == "check") return message.get<CorrectnessResult>();
  if (operation == "time") return message.get<TimingResult>();
  if (operation == "energy") return message.get<EnergyResult>();
  if (operation == "profile") return message.get<PredictedProfile>();
  return message.get<PairResult>();
}

}  // namespace

DeviceClient::DeviceClient(std::filesystem::path program, const std::string& device_id,
                           std::chrono::milliseconds step_limit, EventSink on_event,
                           WorkerPriority priority)
    : program_(std::move(program)),
      device_id_(device_id),
      step_limit_(step_limit),
      on_event_(std::move(on_event)),
      priority_(priority) {
  info_ = call_surely({{"op", "info"}}).at("info").get<DeviceInfo>();
  device_id_ = info_.id;  // "auto" is decided once, not at every restart
  if (step_limit_.count() == 0) {
    step_limit_ = info_.time_kind == TimeKind::kMeasured ? kMeasuredStep : kPredictedStep;
  }
}

DeviceClient::~DeviceClient() {
  constexpr std::chrono::milliseconds kLimit{5000};
  if (process_ && !busy_) process_->finish(kLimit);
}

std::vector<std::string> DeviceClient::arguments() const {
  std::vector<std::string> arguments = {"device", device_id_};
  if (priority_ == WorkerPriority::kSpare) arguments.emplace_back("--spare");
  return arguments;
}

void DeviceClient::start() {
  process_.emplace(program_, arguments());
  if (setup_) (void)call_surely(*setup_);
}

std::optional<nlohmann::json> DeviceClient::wait_for_answer(
    const std::function<void()>& meanwhile) {
  constexpr std::chrono::milliseconds kBetween{10};
  if (!meanwhile) return process_->wait(kCallLimit);
  const SteadyTime deadline = std::chrono::steady_clock::now() + kCallLimit;
  while (true) {
    meanwhile();
    if (auto answer = process_->wait(kBetween)) return answer;
    if (!process_->is_open() || std::chrono::steady_clock::now() >= deadline) return std::nullopt;
  }
}

std::optional<nlohmann::json> DeviceClient::call(const nlohmann::json& request,
                                                 const std::function<void()>& meanwhile) {
  std::optional<nlohmann::json> reply;
  if (process_->send(request)) reply = wait_for_answer(meanwhile);
  if (!reply) {
    const Ending ending = process_->kill();
    if (ending.killed_from_outside) return std::nullopt;
    const bool is_virtual = device_id_.starts_with("virtual:");
    throw MissingError("the device worker for " + device_id_ + " does not answer: " + ending.text +
                       (is_virtual ? "" : kDriverStep));
  }
  if (reply->contains("out_of_memory")) {
    throw MissingError("the device worker for " + device_id_ + " has not enough memory (limit " +
                       reply->at("out_of_memory").get<std::string>() + ")");
  }
  if (reply->contains("error")) rethrow(*reply);
  return *reply;
}

nlohmann::json DeviceClient::call_surely(const nlohmann::json& request,
                                         const std::function<void()>& meanwhile) {
  constexpr int kAttempts = 3;
  for (int attempt = 1; attempt <= kAttempts; ++attempt) {
    if (!process_) process_.emplace(program_, arguments());
    if (auto reply = call(request, meanwhile)) return *reply;
    process_.reset();
    if (on_event_) on_event_("device worker killed", "somebody killed it while it was starting");
  }
  throw MissingError("the device worker for " + device_id_ + " is killed whenever it starts");
}

void DeviceClient::set_up(const SessionSetup& setup, const std::function<void()>& meanwhile) {
  setup_ = nlohmann::json{{"op", "setup"}, {"setup", setup}};
  (void)call_surely(*setup_, meanwhile);
}

void DeviceClient::submit_check(const KernelUnderTest& kernel, Effort effort) {
  submit({{"op", "check"}, {"kernel", kernel}, {"effort", to_string(effort)}});
}

void DeviceClient::submit_time(const KernelUnderTest& kernel, const std::string& shape,
                               Effort effort, double give_up_us) {
  submit({{"op", "time"},
          {"kernel", kernel},
          {"shape", shape},
          {"effort", to_string(effort)},
          {"give_up_us", give_up_us}});
}

void DeviceClient::submit_energy(const KernelUnderTest& kernel, const std::string& shape,
                                 double window_s) {
  submit({{"op", "energy"}, {"kernel", kernel}, {"shape", shape}, {"window_s", window_s}});
}

void DeviceClient::submit_profile(const KernelUnderTest& kernel, const std::string& shape) {
  submit({{"op", "profile"}, {"kernel", kernel}, {"shape", shape}});
}

void DeviceClient::submit_compare(const KernelUnderTest& first, const KernelUnderTest& second,
                                  const std::string& shape) {
  submit({{"op", "compare"}, {"first", first}, {"second", second}, {"shape", shape}});
}

void DeviceClient::submit(nlohmann::json request) {
  request_ = std::move(request);
  if (!ranges_.empty()) request_["ranges"] = ranges_;
  retried_ = false;
  started_ = std::chrono::steady_clock::now();
  send_request();
}

void DeviceClient::send_request() {
  if (!process_) start();
  busy_ = true;
  step_ = "loading the kernel";
  last_sign_ = std::chrono::steady_clock::now();
  (void)process_->send(request_);  // poll() notices a worker that is gone
}

SteadyTime DeviceClient::next_deadline() const {
  return busy_ ? last_sign_ + step_limit_ : SteadyTime::max();
}

std::optional<nlohmann::json> DeviceClient::next_message() {
  try {
    return process_->poll();
  } catch (const std::exception&) {
    (void)process_->kill();  // what it sends cannot be read: as good as gone
    return std::nullopt;
  }
}

std::optional<DeviceClient::Reply> DeviceClient::poll() {
  while (auto message = next_message()) {
    last_sign_ = std::chrono::steady_clock::now();
    if (message->contains("progress")) {
      step_ = message->at("progress").get<std::string>();
      continue;
    }
    return take_message(std::move(*message));
  }
  if (process_->is_open() && std::chrono::steady_clock::now() < next_deadline()) {
    return std::nullopt;
  }
  return take_ending();
}

std::optional<DeviceClient::Reply> DeviceClient::take_message(nlohmann::json message) {
  if (message.contains("out_of_memory")) {
    return try_again("ran out of memory (limit " + message.at("out_of_memory").get<std::string>() +
                     ") while " + step_);
  }
  if (message.contains("error")) {
    // What no kernel has passed yet may be the problem's or the machine's fault, and a bad problem
    // is nobody else's.
    const auto code = static_cast<ExitCode>(message.at("code").get<int>());
    if (!has_answered_ || code != ExitCode::kMissing) {
      busy_ = false;
      rethrow(message);
    }
    return try_again("failed while " + step_ + ": " + message.at("error").get<std::string>());
  }
  Reply reply{WorkerFailure{}, milliseconds_between(started_, last_sign_)};
  try {
    reply.result = result_of(request_.at("op").get<std::string>(), message);
  } catch (const nlohmann::json::exception&) {
    return try_again("made its process send no valid message");
  }
  busy_ = false;
  has_answered_ = true;
  if (message.value("device_lost", false)) {
    on_event_("device worker replaced", "a kernel left the device unusable while " + step_);
    process_.reset();
  }
  return reply;
}

std::optional<DeviceClient::Reply> DeviceClient::take_ending() {
  const bool hung = process_->is_open();
  if (process_->number() < 0) return try_again("made its process send no valid message");
  const Ending ending = process_->kill();
  if (hung && !ending.killed_from_outside) {
    return blame("did not finish within " + seconds_text(step_limit_) + " while " + step_ +
                 " (a deadlock or an endless loop?); it was killed");
  }
  if (ending.killed_from_outside) {
    return try_again("had its process killed (" + ending.text + ") while " + step_);
  }
  return try_again("took its process down (" + ending.text + ") while " + step_);
}

std::optional<DeviceClient::Reply> DeviceClient::try_again(const std::string& why) {
  if (retried_) return blame(why + ", twice");
  on_event_("device worker replaced", "a kernel " + why + "; it is tried once more");
  process_.reset();
  retried_ = true;
  send_request();
  return std::nullopt;
}

DeviceClient::Reply DeviceClient::blame(const std::string& why) {
  on_event_("device worker killed", "a kernel " + why);
  process_.reset();
  busy_ = false;
  return {WorkerFailure{why}, milliseconds_between(started_, std::chrono::steady_clock::now())};
}

void DeviceClient::abandon() {
  if (!busy_) return;
  process_.reset();
  busy_ = false;
}

std::vector<pollfd> DeviceClient::interests() const {
  if (!busy_) return {};
  return {process_->interest()};
}

DeviceClient::Reply DeviceClient::wait() {
  while (true) {
    if (auto reply = poll()) return *reply;
    const double left = milliseconds_between(std::chrono::steady_clock::now(), next_deadline());
    pollfd entry = process_->interest();
    ::poll(&entry, 1, static_cast<int>(std::max(left, 0.0)) + 1);
  }
}

}  // namespace evo
