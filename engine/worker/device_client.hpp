#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "engine/worker/compile_pool.hpp"
#include "engine/worker/process.hpp"
#include "engine/worker/session.hpp"

namespace evo {

/// Speaks with the process that owns the device; replaces it when a kernel hangs, crashes or
/// poisons it. One request at a time.
class DeviceClient {
 public:
  /// The answer to a request, or why there is none: `failure` is a line for people that blames the
  /// kernel and names the step it was in.
  struct Reply {
    nlohmann::json message;
    std::optional<std::string> failure = {};
    double wall_ms = 0;
  };
  /// Told of restarts: kind and text of an event.
  using EventSink = std::function<void(const std::string& kind, const std::string& text)>;

  /// Starts the worker and opens the device. `step_limit`: between two signs of life; 0: 10 s on
  /// devices that measure, 300 s on those that predict. Throws MissingError or InputError when the
  /// device cannot be opened.
  DeviceClient(std::filesystem::path program, const std::string& device_id,
               std::chrono::milliseconds step_limit, EventSink on_event);

  [[nodiscard]] const DeviceInfo& info() const { return info_; }

  /// Sets the problem for all requests that follow, also after a restart. Throws when the worker
  /// refuses it.
  void set_up(const SessionSetup& setup);

  void submit_check(const KernelUnderTest& kernel);
  void submit_time(const KernelUnderTest& kernel, double give_up_us);
  void submit_compare(const KernelUnderTest& first, const KernelUnderTest& second);

  /// The reply if it has come, or the failure if the step's time is over. Never waits. Throws when
  /// the worker reports an error no kernel can be blamed for.
  [[nodiscard]] std::optional<Reply> poll();
  /// Waits for it.
  [[nodiscard]] Reply wait();

  [[nodiscard]] bool is_busy() const { return busy_; }
  [[nodiscard]] int descriptor() const { return process_->descriptor(); }
  [[nodiscard]] SteadyTime next_deadline() const;

 private:
  void start();
  void submit(const nlohmann::json& request);
  [[nodiscard]] nlohmann::json call(const nlohmann::json& request);
  [[nodiscard]] Reply replace_worker();

  std::filesystem::path program_;
  std::string device_id_;
  std::chrono::milliseconds step_limit_;
  EventSink on_event_;
  DeviceInfo info_;
  std::optional<nlohmann::json> setup_;
  std::optional<WorkerProcess> process_;
  bool busy_ = false;
  std::string step_;
  SteadyTime started_;
  SteadyTime last_sign_;
};

}  // namespace evo
