#include "engine/worker/remote_host.hpp"

#include <deque>

#include "engine/core/error.hpp"

namespace evo {
namespace {

/// Time limit for the answer of an agent (agent.hpp) to a control message, which the agent answers
/// without delay.
constexpr std::chrono::milliseconds kAnswerLimit{2000};

}  // namespace

/// A worker process on another host.
class RemoteProcess final : public WorkerChannel {
 public:
  RemoteProcess(std::shared_ptr<RemoteHost> host, const std::vector<std::string>& arguments,
                const WorkerLimits& limits)
      : host_(std::move(host)) {
    order({{"op", "start"},
           {"arguments", arguments},
           {"memory_bytes", limits.address_space_bytes},
           {"writes_files", limits.writes_files},
           {"gives_way", limits.gives_way}});
  }
  ~RemoteProcess() override {
    if (!is_killed_) kill();
  }
  RemoteProcess(const RemoteProcess&) = delete;
  RemoteProcess& operator=(const RemoteProcess&) = delete;

  [[nodiscard]] bool send(nlohmann::json message) override {
    return !ended_ && host_->frames_ && host_->frames_->send(std::move(message));
  }

  [[nodiscard]] std::optional<nlohmann::json> poll() override {
    if (kept_.empty()) return read();
    nlohmann::json message = std::move(kept_.front());
    kept_.pop_front();
    return message;
  }

  [[nodiscard]] bool is_open() const override { return !ended_ && !is_killed_; }
  [[nodiscard]] bool is_answering() const override {
    return host_->frames_ && host_->frames_->is_answering();
  }
  [[nodiscard]] bool is_running() const override { return !is_killed_; }

  [[nodiscard]] std::chrono::nanoseconds processor_time() override {
    time_.reset();
    order({{"op", "time"}});
    (void)wait_until([this] { return time_.has_value(); }, kAnswerLimit);
    return time_.value_or(std::chrono::nanoseconds(0));
  }

  [[nodiscard]] pollfd interest() const override {
    return host_->frames_ ? host_->frames_->interest() : pollfd{-1, 0, 0};
  }

  void finish(std::chrono::milliseconds limit) override {
    (void)end_by({{"op", "finish"}, {"limit_ms", limit.count()}});
  }

  Ending kill() override { return end_by({{"op", "kill"}}); }

 private:
  /// Sends the other host the control message `what`, which ends the process. Does not wait for the
  /// end of the process, because the host may hang.
  Ending end_by(const nlohmann::json& what) {
    is_killed_ = true;
    if (ended_) return *ended_;
    if (host_->is_gone()) {
      lose();
    } else {
      order(what);
      ++host_->endings_owed_;
      ended_ = Ending{false, "the process was killed", -1};
    }
    return *ended_;
  }

  void order(const nlohmann::json& what) {
    if (host_->frames_) (void)host_->frames_->send(what, FrameKind::kControl);
  }

  void lose() { ended_ = Ending{true, "the connection to " + host_->name() + " was lost", -1}; }

  void take(const nlohmann::json& control) {
    if (host_->endings_owed_ > 0) {  // the message is from an earlier process
      if (control.contains("ended")) --host_->endings_owed_;
      return;
    }
    if (control.contains("time_ns")) {
      time_ = std::chrono::nanoseconds(control.at("time_ns").get<std::int64_t>());
    }
    if (!control.contains("ended")) return;
    const auto& how = control.at("ended");
    ended_ = Ending{how.at("killed_from_outside").get<bool>(), how.at("text").get<std::string>(),
                    how.at("exit_code").get<int>()};
  }

  /// Handles a control message. If the message is invalid, disconnects the host, which then counts
  /// as lost, so that the kernel that the host evaluates is not rejected.
  void obey(std::span<const std::uint8_t> frame) {
    try {
      take(decode_frame(frame));
    } catch (const std::exception&) {
      host_->leave();
      lose();
    }
  }

  [[nodiscard]] std::optional<nlohmann::json> read() {
    while (!ended_) {
      const auto frame = host_->frames_ ? host_->frames_->poll_frame() : std::nullopt;
      if (!frame) {
        if (!host_->frames_ || !host_->frames_->is_open()) lose();
        return std::nullopt;
      }
      if (kind_of(*frame) == FrameKind::kControl) {
        obey(*frame);
      } else if (host_->endings_owed_ == 0) {
        return decode_frame(*frame);
      }
    }
    return std::nullopt;
  }

  /// Waits until `is_there` returns true or `limit` has passed. Keeps messages of the worker
  /// process that arrive meanwhile for poll().
  template <typename Condition>
  [[nodiscard]] bool wait_until(const Condition& is_there, std::chrono::milliseconds limit) {
    const auto deadline = std::chrono::steady_clock::now() + limit;
    while (true) {
      try {
        while (auto message = read()) kept_.push_back(*std::move(message));
      } catch (const std::exception&) {
        return false;  // the message is invalid
      }
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
          deadline - std::chrono::steady_clock::now());
      if (is_there() || ended_ || left.count() <= 0) return is_there();
      pollfd entry = interest();
      ::poll(&entry, 1, static_cast<int>(left.count()) + 1);
    }
  }

  std::shared_ptr<RemoteHost> host_;
  std::deque<nlohmann::json> kept_;
  std::optional<Ending> ended_;
  std::optional<std::chrono::nanoseconds> time_;
  bool is_killed_ = false;
};

std::unique_ptr<WorkerChannel> RemoteHost::start(const std::vector<std::string>& arguments,
                                                 const WorkerLimits& limits) {
  if (is_gone()) throw MissingError("the worker on " + identity_.name() + " is gone");
  return std::make_unique<RemoteProcess>(shared_from_this(), arguments, limits);
}

}  // namespace evo
