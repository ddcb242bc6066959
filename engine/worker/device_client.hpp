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

/// The CPU priority of a worker.
enum class WorkerPriority {
  kNormal,
  kSpare,  ///< lower than that of other processes
};

/// Sends requests to the worker process that owns the device, one at a time, and replaces the
/// process when a kernel hangs or crashes it, or leaves it unusable.
///
/// If the worker process dies, runs out of memory, sends an invalid message, or reports a missing
/// device although an earlier request has succeeded, the client replaces the process and sends the
/// request once more before it rejects the kernel, because another process may have killed the
/// worker, or earlier kernels may have damaged the state of the process. A kernel that does not
/// finish is rejected if a new process can use the device; otherwise the device is lost.
class DeviceClient final : public DeviceService {
 public:
  /// Starts the worker, which opens the device. `step_limit`: longest time between two progress
  /// messages of the worker; 0: 10 s on devices that measure, 300 s on devices that predict. `loop`
  /// must outlive the client.
  DeviceClient(EventLoop& loop, std::filesystem::path program, std::string device_id,
               std::chrono::milliseconds step_limit, EventSink on_event,
               WorkerPriority priority = WorkerPriority::kNormal);
  /// Starts the worker on `host` instead of this machine.
  DeviceClient(EventLoop& loop, std::shared_ptr<WorkerHost> host, std::string device_id,
               std::chrono::milliseconds step_limit, EventSink on_event,
               WorkerPriority priority = WorkerPriority::kNormal);
  /// Ends the worker process: closes the connection to an idle worker, and kills a busy worker.
  ~DeviceClient() override;
  DeviceClient(const DeviceClient&) = delete;
  DeviceClient& operator=(const DeviceClient&) = delete;

  /// Waits until the device is open. Call this function or open() before any other. Throws
  /// MissingError or InputError when the device cannot be opened.
  void wait_until_open();
  /// Like wait_until_open(), but other coroutines continue to run.
  Task<> open();

  [[nodiscard]] const DeviceInfo& info() const override { return info_; }
  void set_ranges(std::vector<std::string> ranges) override { ranges_ = std::move(ranges); }
  Task<> set_up(SessionSetup setup) override;
  Task<Reply<CorrectnessResult>> check(const KernelUnderTest& kernel, CheckKind check_kind,
                                       std::vector<double> limits_us) override;
  Task<Reply<TimingResult>> time(const KernelUnderTest& kernel, const std::string& shape,
                                 CheckKind check_kind, double early_stop_us) override;
  Task<Reply<EnergyResult>> energy(const KernelUnderTest& kernel, const std::string& shape,
                                   double window_s) override;
  Task<Reply<PredictedProfile>> profile(const KernelUnderTest& kernel,
                                        const std::string& shape) override;
  Task<Reply<LaunchOutcome>> write_outputs(const KernelUnderTest& kernel, const std::string& shape,
                                           const std::string& folder) override;
  Task<Reply<PairResult>> compare(const KernelUnderTest& first, const KernelUnderTest& second,
                                  const std::string& shape) override;

 private:
  /// The reason why a request to the worker has no valid answer.
  struct Lost {
    std::string why;
    bool is_final = false;  ///< reject the kernel without another try
  };

  [[nodiscard]] std::vector<std::string> arguments() const;
  /// Checks the first reply of a new worker process. Nullopt if another process killed the worker,
  /// so that the caller should start a new worker.
  [[nodiscard]] std::optional<nlohmann::json> checked(std::optional<nlohmann::json> reply,
                                                      int attempt);
  Task<> start();
  Task<> send_setup();
  void take_info(const nlohmann::json& reply);
  Task<std::optional<nlohmann::json>> reply_within(std::chrono::milliseconds limit);
  void start_process();
  template <typename Result>
  Task<Reply<Result>> ask(nlohmann::json request);
  template <typename Result>
  [[nodiscard]] std::optional<Result> result_of(const nlohmann::json& message);
  Task<std::variant<nlohmann::json, Lost>> exchange(const nlohmann::json& request);
  Task<> finish_abandoned();
  [[nodiscard]] std::optional<nlohmann::json> next_message();
  [[nodiscard]] std::optional<std::variant<nlohmann::json, Lost>> take_message();
  [[nodiscard]] std::variant<nlohmann::json, Lost> answer_of(nlohmann::json message);
  [[nodiscard]] Lost take_ending();
  void tell(const std::string& kind, const std::string& text) const;

  EventLoop& loop_;
  std::shared_ptr<WorkerHost> host_;
  std::string device_id_;
  std::chrono::milliseconds step_limit_;
  EventSink on_event_;
  WorkerPriority priority_;
  DeviceInfo info_;
  std::optional<nlohmann::json> setup_;
  std::unique_ptr<WorkerChannel> process_;
  bool is_busy_ = false;
  bool owes_answer_ = false;   ///< the worker has not answered a request that a stop abandoned
  bool has_answered_ = false;  ///< a request has succeeded, so device and problem work
  std::vector<std::string> ranges_;
  std::string step_;
  SteadyTime last_sign_;
};

}  // namespace evo
