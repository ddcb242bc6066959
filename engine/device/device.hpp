#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "engine/core/device_info.hpp"
#include "engine/core/error.hpp"
#include "engine/core/launch_config.hpp"
#include "engine/core/texture.hpp"

namespace evo {

class CardMonitor;

using BufferId = std::uint32_t;
using KernelId = std::uint32_t;
using GraphId = std::uint32_t;

/// Sets of inputs that launches take in turn when they are timed; of outputs, there is one more.
inline constexpr std::size_t kTimedInputSets = 4;

/// A buffer in device memory with guard zones on both sides.
struct BufferSpec {
  std::string name;  ///< for messages
  std::size_t bytes = 0;
  bool writable = false;  ///< false for inputs: the virtual GPU reports a write to one
  bool is_kept = false;   ///< all launches that are timed take this one: a workspace
};

/// A scalar kernel argument, or a structure: its bytes in the kernel's parameter type.
struct ScalarArgument {
  std::vector<std::byte> bytes;

  template <typename T>
  requires std::is_arithmetic_v<T>
  static ScalarArgument of(T value) {
    ScalarArgument scalar;
    scalar.bytes.resize(sizeof(T));
    std::memcpy(scalar.bytes.data(), &value, sizeof(T));
    return scalar;
  }
};

using KernelArgument = std::variant<BufferId, ScalarArgument, TextureId>;

/// The compiled kernel: PTX for a virtual device, machine code for a real one.
struct KernelImage {
  std::string ptx;
  std::string cubin;
  std::vector<std::string> entries;  ///< symbols: what a step of a launch may run
  /// Symbols of __constant__ variables that launches set; empty for one that the kernel lacks.
  std::vector<std::string> constants = {};
};

/// Why a __constant__ variable does not take an argument.
[[nodiscard]] inline std::string constant_too_small(const std::string& symbol, std::size_t bytes,
                                                    const std::string& argument,
                                                    std::size_t argument_bytes) {
  return "__constant__ " + symbol + " has " + std::to_string(bytes) + " bytes, argument '" +
         argument + "' " + std::to_string(argument_bytes);
}

enum class FaultKind {
  kDefect,   ///< the kernel did something wrong
  kRefused,  ///< this device cannot run the kernel; another one of its architecture may
};

/// Why a kernel was not loaded or did not run to its end.
struct Fault {
  std::string reason;        ///< one line
  std::string detail = {};   ///< all hazards, a line each
  bool device_lost = false;  ///< the context is poisoned: the process must be replaced
  FaultKind kind = FaultKind::kDefect;
};

/// Which CTA of a launch writes each part of some buffers.
struct WriteMap {
  std::size_t granule = 1;  ///< bytes of a part
  /// owners[buffer][part]: the linear index of the writing CTA (x fastest) plus 1; 0 for nobody.
  std::vector<std::vector<std::uint32_t>> owners;
};

/// What a device that interprets can do beside: run a part of a grid, and tell what was written.
class GridSampler {
 public:
  virtual ~GridSampler() = default;

  /// Later launches of one step run only these CTAs (linear indices, x fastest) and leave the
  /// output of the others untouched; an empty list runs all.
  virtual void set_cta_sample(std::vector<std::uint64_t> ctas) = 0;
  /// For each byte, whether anyone wrote it since it was poisoned.
  [[nodiscard]] virtual std::vector<bool> written(BufferId buffer) const = 0;
  /// Which CTA of the whole grid writes what of `outputs`, without computing it; their content
  /// stays. Or why that cannot be told: where a CTA writes depends on what is computed, several
  /// CTAs write the same place, or they write something besides `outputs`.
  [[nodiscard]] virtual std::variant<WriteMap, std::string> write_map(
      KernelId kernel, const LaunchPlan& plan, std::span<const KernelArgument> arguments,
      std::span<const BufferId> outputs) = 0;
  /// Without checks for races and uninitialised data launches are faster; they are on at first.
  virtual void set_checks(bool on) = 0;
};

/// The boundary to what runs kernels. Errors that no kernel can be blamed for throw CudaError.
/// Not thread-safe; lives in a worker process.
class Device {
 public:
  virtual ~Device() = default;

  [[nodiscard]] virtual const DeviceInfo& info() const = 0;

  /// Device memory, uninitialised. Freed by release() or with the device. Throws DeviceMemoryError
  /// when it does not fit.
  virtual BufferId allocate(const BufferSpec& spec) = 0;
  virtual void release(BufferId buffer) = 0;
  /// As it was allocated.
  [[nodiscard]] virtual BufferSpec spec(BufferId buffer) const = 0;
  virtual void upload(BufferId buffer, std::span<const std::byte> data) = 0;
  virtual void download(BufferId buffer, std::span<std::byte> data) = 0;
  /// The content of one buffer to another of the same size.
  virtual void copy(BufferId to, BufferId from) = 0;
  /// Every byte := value.
  virtual void fill(BufferId buffer, std::byte value) = 0;
  /// Fills the buffer with `pattern` (1, 2, 4 or 8 bytes, repeated) as data that nobody wrote: a
  /// device that tracks writes forgets them.
  virtual void poison(BufferId buffer, std::span<const std::byte> pattern) = 0;
  /// Whether the device knows which bytes were written.
  [[nodiscard]] virtual bool tracks_writes() const { return false; }
  /// The first byte that no kernel wrote since the buffer was poisoned; nothing when all of them
  /// were written, or when the device does not track writes.
  [[nodiscard]] virtual std::optional<std::size_t> first_unwritten(BufferId) const {
    return std::nullopt;
  }
  /// What was overwritten in the guard zones since allocation, or nothing. Repairs the zones.
  virtual std::optional<std::string> guard_violation(BufferId buffer) = 0;
  /// Bytes of the guard zone on each side of a buffer, filled with guard_pattern(); 0 where no
  /// kernel can reach past a buffer.
  [[nodiscard]] virtual std::size_t guard_bytes() const { return 0; }

  /// A texture object over the start of a buffer, or over a copy of it, see TextureStorage; it goes
  /// with release_texture(), and a view also with its buffer. Throws InputError for a texture that
  /// CUDA does not take, or when the device has none.
  virtual TextureId make_texture(const TextureSpec& spec, BufferId source);
  virtual void release_texture(TextureId texture);

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

  /// A launch behind everything that was queued before it. What it does wrong is told at once, or
  /// by finish(): until then calls that only queue work say nothing of it, and those that wait
  /// throw. A device without a queue launches at once.
  virtual std::optional<Fault> enqueue(KernelId kernel, const LaunchPlan& plan,
                                       std::span<const KernelArgument> arguments) {
    return launch(kernel, plan, arguments);
  }
  /// Waits until the whole device is idle. The first fault of what was queued.
  virtual std::optional<Fault> finish() { return std::nullopt; }
  /// What a buffer holds from byte `offset` on when the queue comes to this, in memory of
  /// host_memory(): there after finish(), also when a launch queued behind it fails.
  virtual void download_later(BufferId buffer, std::size_t offset, std::span<std::byte> data);
  /// Memory of the host that a queue may write to. Must not outlive the device.
  [[nodiscard]] virtual std::shared_ptr<std::byte[]> host_memory(std::size_t bytes) {
    return std::make_shared<std::byte[]>(bytes);
  }

  /// For devices that measure: a graph of `launches` launches that rotate through
  /// `argument_sets`; run_graph() returns the microseconds of one execution of the whole graph.
  /// Constants get their content before it, of the first set: it must be that of all.
  virtual std::variant<GraphId, Fault> make_graph(
      KernelId kernel, const LaunchPlan& plan,
      std::span<const std::vector<KernelArgument>> argument_sets, int launches) = 0;
  virtual std::variant<double, Fault> run_graph(GraphId graph) = 0;
  virtual void release_graph(GraphId graph) = 0;
  /// Evicts the caches, for cold measurements.
  virtual void flush_l2() = 0;

  /// For devices that predict: microseconds of one launch.
  virtual std::variant<double, Fault> predict_us(KernelId kernel, const LaunchPlan& plan,
                                                 std::span<const KernelArgument> arguments) = 0;

  /// What a profiler that was told to wait looks at lies between these two. Nothing without one.
  virtual void begin_profile() {}
  virtual void end_profile() {}
  /// Of the last prediction: how busy the units are in percent, by Nsight Compute's names. Empty
  /// for devices that measure, and where the prediction does not say.
  [[nodiscard]] virtual std::map<std::string, double> predicted_profile() const { return {}; }

  /// Names what the last predicted time depends on and the model leaves out. Empty for devices
  /// that measure.
  [[nodiscard]] virtual std::string prediction_gaps() const { return {}; }

  /// Null for devices that run whole grids only.
  [[nodiscard]] virtual GridSampler* sampler() { return nullptr; }

  /// Null where nobody tells clocks, power and energy.
  [[nodiscard]] virtual CardMonitor* monitor() { return nullptr; }
};

inline TextureId Device::make_texture(const TextureSpec& spec, BufferId) {
  throw InputError("texture '" + spec.name + "': not supported on " + info().name);
}
inline void Device::release_texture(TextureId) {
  throw InputError("textures are not supported on " + info().name);
}

inline void Device::download_later(BufferId buffer, std::size_t offset, std::span<std::byte> data) {
  std::vector<std::byte> start(offset + data.size());
  download(buffer, start);
  std::memcpy(data.data(), start.data() + offset, data.size());
}

}  // namespace evo
