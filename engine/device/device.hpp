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

class CardMonitor;

/// Sets of inputs that launches take in turn when they are timed; of outputs, there is one more.
inline constexpr std::size_t kTimedInputSets = 4;

/// The boundary to what runs kernels: what all devices can do, and null for what this one cannot.
/// A device measures or predicts, as its info() says. Errors that no kernel can be blamed for throw
/// CudaError. Not thread-safe; lives in a worker process.
class Device {
 public:
  virtual ~Device() = default;

  [[nodiscard]] virtual const DeviceInfo& info() const = 0;
  [[nodiscard]] virtual DeviceMemory& memory() = 0;

  /// A kernel ready to launch, or why the device cannot take it.
  virtual std::variant<KernelId, Fault> load(const KernelImage& image) = 0;
  virtual void unload(KernelId kernel) = 0;
  /// A hash of what the kernel's own variables in device memory hold, which outlives its launches;
  /// nothing when it has some and the device cannot read them.
  [[nodiscard]] virtual std::optional<std::string> variables_hash(KernelId kernel) const = 0;

  /// One launch of all steps of the plan; returns when the whole device is idle again. `arguments`:
  /// those that steps choose from (or the parameters of all), then a buffer for each of the image's
  /// constants, which gets its content before the first step.
  virtual std::optional<Fault> launch(KernelId kernel, const LaunchPlan& plan,
                                      std::span<const KernelArgument> arguments) = 0;

  [[nodiscard]] virtual DeviceTextures* textures() { return nullptr; }
  [[nodiscard]] virtual Measuring* measuring() { return nullptr; }
  [[nodiscard]] virtual Predicting* predicting() { return nullptr; }
  [[nodiscard]] virtual Interpreting* interpreting() { return nullptr; }
  /// Tells clocks, power and energy.
  [[nodiscard]] virtual CardMonitor* monitor() { return nullptr; }
};

/// For what only devices that measure are asked. Throws std::logic_error for another.
[[nodiscard]] inline Measuring& measuring(Device& device) {
  if (Measuring* part = device.measuring()) return *part;
  throw std::logic_error(device.info().name + " does not measure");
}

/// For what only devices that predict are asked. Throws std::logic_error for another.
[[nodiscard]] inline Predicting& predicting(Device& device) {
  if (Predicting* part = device.predicting()) return *part;
  throw std::logic_error(device.info().name + " does not predict");
}

}  // namespace evo
