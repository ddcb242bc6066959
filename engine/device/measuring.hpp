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

/// Abilities of a device that measures: it queues work and times it.
class Measuring {
 public:
  virtual ~Measuring() = default;

  /// Queues a launch after all previous work. Its fault is returned at once or by finish(). Until
  /// then, calls that only queue work succeed, and calls that wait throw.
  virtual std::optional<Fault> enqueue(KernelId kernel, const LaunchPlan& plan,
                                       std::span<const KernelArgument> arguments) = 0;
  /// Whether the launch may start before the work queued before it has ended (programmatic
  /// dependent launch).
  [[nodiscard]] virtual bool starts_early(KernelId /*kernel*/, const LaunchPlan& /*plan*/) const {
    return false;
  }
  /// Launches and waits. Returns the microseconds between the events before and after it, by the
  /// device's clock. The queue must be empty before.
  virtual std::variant<double, Fault> launch_timed(KernelId kernel, const LaunchPlan& plan,
                                                   std::span<const KernelArgument> arguments) = 0;
  /// Waits until the whole device is idle. Returns the first fault of the queued work.
  virtual std::optional<Fault> finish() = 0;
  /// Queues a copy of a buffer from byte `offset` on to memory from host_memory(). It is complete
  /// after finish(), even if a later queued launch fails.
  virtual void download_later(BufferId buffer, std::size_t offset, std::span<std::byte> data) = 0;
  /// Host memory to which queued copies may write. It must not outlive the device.
  [[nodiscard]] virtual std::shared_ptr<std::byte[]> host_memory(std::size_t bytes) {
    return std::make_shared<std::byte[]>(bytes);
  }

  /// A graph of `launches` launches that rotate through `argument_sets`; run_graph() returns the
  /// microseconds of one execution of the whole graph. Before it, constants get the content from
  /// the first set, so all sets must have the same content.
  virtual std::variant<GraphId, Fault> make_graph(
      KernelId kernel, const LaunchPlan& plan,
      std::span<const std::vector<KernelArgument>> argument_sets, int launches) = 0;
  virtual std::variant<double, Fault> run_graph(GraphId graph) = 0;
  virtual void release_graph(GraphId graph) = 0;
  /// Evicts the caches, for measurements with cold caches.
  virtual void flush_l2() = 0;

  /// Marks the range that an attached profiler records. Without a profiler they do nothing.
  virtual void begin_profile() {}
  virtual void end_profile() {}
};

}  // namespace evo
