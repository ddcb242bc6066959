#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "engine/core/launch_config.hpp"
#include "engine/device/device_kernel.hpp"

namespace evo {

using GraphId = std::uint32_t;

/// The interface of a device that measures times: it queues work and times launches.
class Measuring {
 public:
  virtual ~Measuring() = default;

  /// Queues a launch after all previous work. If the launch fails, this function or a later
  /// finish() returns the fault. After a failed launch and until finish(), functions that only
  /// queue work succeed, and functions that wait throw.
  virtual std::optional<Fault> enqueue(KernelId kernel, const LaunchPlan& plan,
                                       std::span<const KernelArgument> arguments) = 0;
  /// True if a launch of the plan may start before previously queued work has ended (programmatic
  /// dependent launch).
  [[nodiscard]] virtual bool starts_early(KernelId /*kernel*/, const LaunchPlan& /*plan*/) const {
    return false;
  }
  /// Launches a kernel and waits. Returns the time in microseconds between events before and after
  /// the launch, by the device's clock. No other launches may be in the queue.
  virtual std::variant<double, Fault> launch_timed(KernelId kernel, const LaunchPlan& plan,
                                                   std::span<const KernelArgument> arguments) = 0;
  /// Waits until the whole device is idle. Returns the first fault of the queued work.
  virtual std::optional<Fault> finish() = 0;
  /// Queues a copy of a buffer, starting at byte `offset`, to memory from host_memory(). The copy
  /// is complete after finish(), even if a later queued launch fails.
  virtual void download_later(BufferId buffer, std::size_t offset, std::span<std::byte> data) = 0;
  /// Allocates host memory to which queued copies may write, and which must not outlive the device.
  [[nodiscard]] virtual std::shared_ptr<std::byte[]> host_memory(std::size_t bytes) {
    return std::make_shared<std::byte[]>(bytes);
  }

  /// Makes a CUDA graph of `launches` launches that use `argument_sets` in turn. run_graph()
  /// returns the microseconds of one execution of the whole graph. Before each execution,
  /// __constant__ variables receive their values from the first set, so all sets must have the same
  /// values for them.
  virtual std::variant<GraphId, Fault> make_graph(
      KernelId kernel, const LaunchPlan& plan,
      std::span<const std::vector<KernelArgument>> argument_sets, int launches) = 0;
  virtual std::variant<double, Fault> run_graph(GraphId graph) = 0;
  virtual void release_graph(GraphId graph) = 0;
  /// Evicts the contents of the L2 cache, for measurements with cold caches.
  virtual void flush_l2() = 0;

  /// An attached profiler records the launches between begin_profile() and end_profile(). Without a
  /// profiler, begin_profile() and end_profile() do nothing.
  virtual void begin_profile() {}
  virtual void end_profile() {}
};

}  // namespace evo
