#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <variant>

#include "engine/core/device_info.hpp"
#include "engine/core/launch_config.hpp"
#include "engine/device/device_kernel.hpp"
#include "engine/device/device_memory.hpp"
#include "engine/device/interpreting.hpp"
#include "engine/device/measuring.hpp"
#include "engine/device/predicting.hpp"

namespace evo {

class GpuMonitor;

/// Default number of input sets that timed launches use in turn. With k input sets, timed launches
/// write k + 1 output sets in turn.
inline constexpr std::size_t kTimedInputSets = 4;

/// The interface of everything that runs kernels: a GPU or a virtual GPU. A member that returns a
/// pointer to an interface, such as measuring(), returns null if the device does not support the
/// interface. A device either measures times or predicts them; info() says which. Throws CudaError
/// for errors that a kernel did not cause. Not thread-safe; used in worker processes only.
class Device {
 public:
  virtual ~Device() = default;

  [[nodiscard]] virtual const DeviceInfo& info() const = 0;
  [[nodiscard]] virtual DeviceMemory& memory() = 0;

  /// Loads a kernel. Returns a Fault if the device cannot load the kernel.
  virtual std::variant<KernelId, Fault> load(const KernelImage& image) = 0;
  virtual void unload(KernelId kernel) = 0;
  /// A hash of the content of the module's variables that launches may change and that persist
  /// between launches. Nullopt if the module has variables that the device cannot read.
  [[nodiscard]] virtual std::optional<std::string> variables_hash(KernelId kernel) const = 0;

  /// Launches all steps of the plan once and waits until the whole device is idle. `arguments`:
  /// first the parameters (a step may use only some of them), then a buffer for each of
  /// KernelImage::constants. The device copies the buffers of constants to the __constant__
  /// variables before the first step.
  virtual std::optional<Fault> launch(KernelId kernel, const LaunchPlan& plan,
                                      std::span<const KernelArgument> arguments) = 0;

  [[nodiscard]] virtual DeviceTextures* textures() { return nullptr; }
  [[nodiscard]] virtual Measuring* measuring() { return nullptr; }
  [[nodiscard]] virtual Predicting* predicting() { return nullptr; }
  [[nodiscard]] virtual Interpreting* interpreting() { return nullptr; }
  /// Reports clocks, power and energy of the GPU.
  [[nodiscard]] virtual GpuMonitor* monitor() { return nullptr; }
};

/// The device's interface for measuring times. Throws std::logic_error if the device does not
/// measure.
[[nodiscard]] inline Measuring& measuring(Device& device) {
  if (Measuring* part = device.measuring()) return *part;
  throw std::logic_error(device.info().name + " does not measure");
}

/// The device's interface for predicting times. Throws std::logic_error if the device does not
/// predict.
[[nodiscard]] inline Predicting& predicting(Device& device) {
  if (Predicting* part = device.predicting()) return *part;
  throw std::logic_error(device.info().name + " does not predict");
}

}  // namespace evo
