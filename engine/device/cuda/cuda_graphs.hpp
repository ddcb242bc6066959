#pragma once

#include <functional>
#include <variant>

#include "engine/device/cuda/cuda_queue.hpp"
#include "engine/device/cuda/driver.hpp"

namespace evo {

/// Launches that are captured once and timed as one.
class CudaGraphs {
 public:
  /// Both must outlive this.
  CudaGraphs(const CudaDriver& driver, CudaQueue& queue) : driver_(driver), queue_(queue) {}

  /// Makes the events, in the current context, which they go with. Throws CudaError.
  void open();

  /// What `queue` puts on the stream; nothing of it runs. A fault when it is refused.
  [[nodiscard]] std::variant<CUgraphExec, Fault> capture(const std::function<CUresult()>& queue);
  /// Microseconds from its start to its end, by the card's clock.
  [[nodiscard]] std::variant<double, Fault> run(CUgraphExec graph);
  /// The same of what `queue` puts on the stream. A fault also when it is refused.
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
