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
  std::chrono::milliseconds step_limit{0};  ///< as DeviceClient has it
  /// Without any device for so long, the run ends as interrupted.
  std::chrono::milliseconds patience{60000};
  EventSink on_event = {};
};

/// The workers of other hosts that came before a run could take them.
struct Arrivals {
  std::unique_ptr<DeviceService> device = {};  ///< the first, opened
  std::shared_ptr<RemoteHost> device_host = {};
  std::vector<std::shared_ptr<RemoteHost>> others = {};
};

/// Waits for the first device. `why_none`: why none can come any more; empty while one can. Throws
/// MissingError with that.
Task<Arrivals> first_device(EventLoop& loop, WorkerGate& gate, WorkforceOptions options,
                            std::function<std::string()> why_none);

/// Takes workers of other hosts into the pools of a run as they come, and out of them as they go.
class Workforce {
 public:
  /// All must outlive this. The device of `arrivals` is in the pool already, as number 0.
  Workforce(EventLoop& loop, WorkerGate& gate, CompileService& compilers, DevicePool& devices,
            const SessionSetup& setup, WorkforceOptions options, Arrivals arrivals);

  /// Goes on with it, where it does not go on already: the event loop ends everything when a run
  /// is to stop.
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
  std::vector<std::shared_ptr<RemoteHost>> early_;
  std::vector<Member> members_;  ///< those with a device
};

}  // namespace evo
