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

/// Abilities of a device that measures: queueing work and timing it.
class Measuring {
 public:
  virtual ~Measuring() = default;

  /// A launch behind everything that was queued before it. What it does wrong is told at once, or
  /// by finish(): until then calls that only queue work say nothing of it, and those that wait
  /// throw.
  virtual std::optional<Fault> enqueue(KernelId kernel, const LaunchPlan& plan,
                                       std::span<const KernelArgument> arguments) = 0;
  /// A launch that is waited for: the microseconds between the moments before and after it on the
  /// device's own clock. Before it the queue must be empty.
  virtual std::variant<double, Fault> launch_timed(KernelId kernel, const LaunchPlan& plan,
                                                   std::span<const KernelArgument> arguments) = 0;
  /// Waits until the whole device is idle. The first fault of what was queued.
  virtual std::optional<Fault> finish() = 0;
  /// Copies a buffer from byte `offset` on when the queue comes to this, to memory of
  /// host_memory(): there after finish(), also when a launch queued behind it fails.
  virtual void download_later(BufferId buffer, std::size_t offset, std::span<std::byte> data) = 0;
  /// Memory of the host that a queue may write to. Must not outlive the device.
  [[nodiscard]] virtual std::shared_ptr<std::byte[]> host_memory(std::size_t bytes) {
    return std::make_shared<std::byte[]>(bytes);
  }

  /// A graph of `launches` launches that rotate through `argument_sets`; run_graph() returns the
  /// microseconds of one execution of the whole graph. Constants get their content before it, of
  /// the first set: it must be that of all.
  virtual std::variant<GraphId, Fault> make_graph(
      KernelId kernel, const LaunchPlan& plan,
      std::span<const std::vector<KernelArgument>> argument_sets, int launches) = 0;
  virtual std::variant<double, Fault> run_graph(GraphId graph) = 0;
  virtual void release_graph(GraphId graph) = 0;
  /// Evicts the caches, for cold measurements.
  virtual void flush_l2() = 0;

  /// The marks between which a waiting profiler looks. They do nothing without one.
  virtual void begin_profile() {}
  virtual void end_profile() {}
};

}  // namespace evo
