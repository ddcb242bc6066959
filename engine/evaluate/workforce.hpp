#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/evaluate/device_pool.hpp"
#include "engine/worker/compile_service.hpp"
#include "engine/worker/worker_gate.hpp"

namespace evo {

/// Options for the use of workers on other hosts.
struct WorkforceOptions {
  std::chrono::milliseconds step_limit{0};  ///< see DeviceClient
  /// The run ends as interrupted when it has had no device for this time.
  std::chrono::milliseconds patience{60000};
  EventSink on_event = {};
};

/// The workers of other hosts that connected before the run began.
struct Arrivals {
  std::unique_ptr<DeviceService> device = {};  ///< opened device of the first device worker
  std::shared_ptr<RemoteHost> device_host = {};
  std::vector<std::shared_ptr<RemoteHost>> others = {};
};

/// Waits for the first device. `why_none` returns the reason why no device can connect any more, or
/// an empty text while a device may still connect. If no device can connect, throws MissingError
/// with the reason.
Task<Arrivals> first_device(EventLoop& loop, WorkerGate& gate, WorkforceOptions options,
                            std::function<std::string()> why_none);

/// Adds workers of other hosts to the pools of a run when they connect, and removes them when they
/// leave.
class Workforce {
 public:
  /// All objects passed by reference must outlive this object. Device 0 of the pool `devices` must
  /// be the device that first_device() returned in `arrivals`.
  Workforce(EventLoop& loop, WorkerGate& gate, CompileService& compilers, DevicePool& devices,
            const SessionSetup& setup, WorkforceOptions options, Arrivals arrivals);

  /// Starts the coroutines that add and remove workers, unless these already run. Call go_on()
  /// again after a stop of the run, which ends the coroutines.
  void go_on();

 private:
  struct Member {
    std::shared_ptr<RemoteHost> host;
    std::size_t device = 0;
  };

  [[nodiscard]] std::optional<WorkerGate::Notice> next_notice();
  Task<> take_all();
  Task<> take(std::shared_ptr<RemoteHost> host);
  Task<> take_device(std::shared_ptr<RemoteHost> host);
  Task<> end_without_devices();
  void take_out(const WorkerGate::Left& left);
  void take_out_former(const RemoteHost& host);
  [[nodiscard]] std::string refusal_of(const DeviceInfo& info) const;

  EventLoop& loop_;
  WorkerGate& gate_;
  CompileService& compilers_;
  DevicePool& devices_;
  const SessionSetup& setup_;
  WorkforceOptions options_;
  int going_ = 0;
  std::vector<std::shared_ptr<RemoteHost>> early_;  ///< hosts that go_on() takes
  std::vector<Member> members_;                     ///< the workers with a device
};

}  // namespace evo
