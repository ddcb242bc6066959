#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "engine/worker/compile_pool.hpp"
#include "engine/worker/device_service.hpp"
#include "engine/worker/process.hpp"

namespace evo {

/// Which processor time a worker takes.
enum class WorkerPriority {
  kNormal,
  kSpare,  ///< only what no other process wants
};

/// Speaks with the process that owns the device; replaces it when a kernel hangs, crashes or
/// poisons it. One request at a time.
///
/// A process that dies, runs out of memory or reports an error of the machine is replaced and the
/// request is tried once more before its kernel is blamed: somebody else may have killed it, or
/// earlier kernels may have left it in a bad state. A kernel that does not finish is blamed at
/// once.
class DeviceClient final : public DeviceService {
 public:
  using EventSink = evo::EventSink;

  /// Starts the worker and opens the device. `step_limit`: between two signs of life; 0: 10 s on
  /// devices that measure, 300 s on those that predict. Throws MissingError or InputError when the
  /// device cannot be opened.
  DeviceClient(std::filesystem::path program, const std::string& device_id,
               std::chrono::milliseconds step_limit, EventSink on_event,
               WorkerPriority priority = WorkerPriority::kNormal);
  /// A worker with nothing to do ends by itself.
  ~DeviceClient() override;
  DeviceClient(const DeviceClient&) = delete;
  DeviceClient& operator=(const DeviceClient&) = delete;

  [[nodiscard]] const DeviceInfo& info() const override { return info_; }
  void set_up(const SessionSetup& setup, const std::function<void()>& meanwhile) override;
  void submit_check(const KernelUnderTest& kernel, Effort effort) override;
  void submit_time(const KernelUnderTest& kernel, const std::string& shape, Effort effort,
                   double give_up_us) override;
  void submit_energy(const KernelUnderTest& kernel, const std::string& shape,
                     double window_s) override;
  void submit_profile(const KernelUnderTest& kernel, const std::string& shape) override;
  void set_ranges(std::vector<std::string> ranges) override { ranges_ = std::move(ranges); }
  void submit_compare(const KernelUnderTest& first, const KernelUnderTest& second,
                      const std::string& shape) override;
  [[nodiscard]] std::optional<Reply> poll() override;
  [[nodiscard]] bool is_busy() const override { return busy_; }
  /// Kills the worker: a launch cannot be ended otherwise.
  void abandon() override;
  [[nodiscard]] std::vector<pollfd> interests() const override;
  [[nodiscard]] SteadyTime next_deadline() const override;

  /// Waits for the reply.
  [[nodiscard]] Reply wait();

 private:
  void start();
  [[nodiscard]] std::vector<std::string> arguments() const;
  void submit(nlohmann::json request);
  void send_request();
  /// An answer from a worker that nothing was asked of yet; nothing when somebody killed it.
  [[nodiscard]] std::optional<nlohmann::json> call(const nlohmann::json& request,
                                                   const std::function<void()>& meanwhile);
  [[nodiscard]] nlohmann::json call_surely(const nlohmann::json& request,
                                           const std::function<void()>& meanwhile = {});
  [[nodiscard]] std::optional<nlohmann::json> wait_for_answer(
      const std::function<void()>& meanwhile);
  [[nodiscard]] std::optional<nlohmann::json> next_message();
  [[nodiscard]] std::optional<Reply> take_message(nlohmann::json message);
  [[nodiscard]] std::optional<Reply> take_ending();
  [[nodiscard]] std::optional<Reply> try_again(const std::string& why);
  [[nodiscard]] Reply blame(const std::string& why);

  std::filesystem::path program_;
  std::string device_id_;
  std::chrono::milliseconds step_limit_;
  EventSink on_event_;
  WorkerPriority priority_;
  DeviceInfo info_;
  std::optional<nlohmann::json> setup_;
  std::optional<WorkerProcess> process_;
  nlohmann::json request_;  ///< being answered
  bool busy_ = false;
  bool retried_ = false;
  bool has_answered_ = false;  ///< any request so far: device and problem work
  std::vector<std::string> ranges_;
  std::string step_;
  SteadyTime started_;
  SteadyTime last_sign_;
};

}  // namespace evo
