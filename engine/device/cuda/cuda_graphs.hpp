#pragma once

#include <functional>
#include <variant>

#include "engine/device/cuda/cuda_queue.hpp"
#include "engine/device/cuda/driver.hpp"

namespace evo {

/// Captures launches into graphs, and times graphs and single launches.
class CudaGraphs {
 public:
  /// `driver` and `queue` must outlive this object.
  CudaGraphs(const CudaDriver& driver, CudaQueue& queue) : driver_(driver), queue_(queue) {}

  /// Creates the events for timing in the current context. Destroying the context destroys the
  /// events. Throws CudaError.
  void open();

  /// Captures the work that `queue` puts on the stream, without running it. Returns a fault if the
  /// driver refuses the work.
  [[nodiscard]] std::variant<CUgraphExec, Fault> capture(const std::function<CUresult()>& queue);
  /// Microseconds from the graph's start to its end, by the GPU's clock. Returns a fault if the
  /// driver refuses the graph, or if a kernel fails.
  [[nodiscard]] std::variant<double, Fault> run(CUgraphExec graph);
  /// Microseconds from the start to the end of the work that `queue` puts on the stream, by the
  /// GPU's clock. Returns a fault if the driver refuses the work, or if a kernel fails.
  [[nodiscard]] std::variant<double, Fault> time(
      const std::function<std::optional<Fault>()>& queue);
  void release(CUgraphExec graph);

 private:
  const CudaDriver& driver_;
  CudaQueue& queue_;
  CUevent start_ = nullptr;
  CUevent stop_ = nullptr;
};

}  // namespace evo
