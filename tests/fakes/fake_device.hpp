#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "engine/device/device.hpp"
#include "tests/fakes/fake_program.hpp"

namespace evo::fake {

/// One launch of a host function that acts as a kernel.
struct Launch {
  /// A pointer for each argument: to the first byte of a buffer, which has guard zones before and
  /// after it, or to the bytes of a scalar.
  std::vector<std::byte*> arguments;
  LaunchConfig config;
  std::size_t entry = 0;    ///< index into the entries of the kernel image
  std::int64_t number = 0;  ///< launches of this loaded kernel before this one

  template <typename T>
  [[nodiscard]] T* buffer(std::size_t argument) const {
    return reinterpret_cast<T*>(arguments[argument]);
  }
  template <typename T>
  [[nodiscard]] T scalar(std::size_t argument) const {
    return *reinterpret_cast<const T*>(arguments[argument]);
  }
};

using Kernel = std::function<std::optional<Fault>(const Launch&)>;

struct FakeDeviceOptions {
  DeviceInfo info;
  /// Returns the host function that acts as the kernel of a program. FakeDevice::load() calls
  /// `link`.
  std::function<std::variant<Kernel, Fault>(const Program&)> link;
  /// The made-up time of one launch in µs, measured or predicted. `sample`: how often the launch's
  /// graph was executed before; -1 for a launch without a graph, 0 for a prediction.
  std::function<double(const Program&, std::int64_t sample)> time_us;
};

/// Describes a device of `kind` whose roofline bounds are far below all made-up times, so that no
/// time is rejected as impossibly short.
[[nodiscard]] DeviceInfo fake_info(TimeKind kind = TimeKind::kMeasured);

/// A device whose memory is host memory, with guard zones like on a GPU, and whose kernels are host
/// functions. An execution of a graph calls the host function only once for each set of arguments,
/// even if the graph has more launches, and returns the made-up time.
class FakeDevice final : public Device,
                         private DeviceMemory,
                         private Measuring,
                         private Predicting {
 public:
  explicit FakeDevice(FakeDeviceOptions options) : options_(std::move(options)) {}

  [[nodiscard]] const DeviceInfo& info() const override { return options_.info; }
  [[nodiscard]] DeviceMemory& memory() override { return *this; }
  std::variant<KernelId, Fault> load(const KernelImage& image) override;
  void unload(KernelId kernel) override;
  /// Returns nullopt, because the fake device cannot see the state that host functions keep.
  [[nodiscard]] std::optional<std::string> variables_hash(KernelId) const override {
    return std::nullopt;
  }
  std::optional<Fault> launch(KernelId kernel, const LaunchPlan& plan,
                              std::span<const KernelArgument> arguments) override;
  [[nodiscard]] Measuring* measuring() override {
    return options_.info.time_kind == TimeKind::kMeasured ? this : nullptr;
  }
  [[nodiscard]] Predicting* predicting() override {
    return options_.info.time_kind == TimeKind::kPredicted ? this : nullptr;
  }
  [[nodiscard]] GpuMonitor* monitor() override { return monitor_; }

  // For tests.
  [[nodiscard]] std::size_t buffers_alive() const { return buffers_.size(); }
  [[nodiscard]] std::size_t graphs_alive() const { return graphs_.size(); }
  [[nodiscard]] std::size_t kernels_alive() const { return kernels_.size(); }
  [[nodiscard]] std::int64_t flushes() const { return flushes_; }

  /// Sets how many graphs can be created before the creation of one graph fails.
  void set_graphs(int graphs) { graphs_left_ = graphs; }

  void set_monitor(GpuMonitor* monitor) { monitor_ = monitor; }

  /// Sets how many bytes allocate() can give in total, not counting guard zones.
  void set_memory_bytes(std::size_t bytes) { memory_bytes_ = bytes; }
  /// Sets what use() returns.
  void set_use(const MemoryUse& use) { use_ = use; }

 private:
  // The functions of DeviceMemory.
  BufferId allocate(const BufferSpec& spec) override;
  void release(BufferId buffer) override;
  [[nodiscard]] std::optional<MemoryUse> use() const override { return use_; }
  [[nodiscard]] BufferSpec spec(BufferId buffer) const override { return buffers_.at(buffer).spec; }
  void upload(BufferId buffer, std::span<const std::byte> data, std::size_t offset) override;
  void download(BufferId buffer, std::span<std::byte> data, std::size_t offset) override;
  void fill(BufferId buffer, std::byte value) override;
  void poison(BufferId buffer, std::span<const std::byte> pattern) override;
  std::optional<std::string> guard_violation(BufferId buffer) override;

  // The functions of Measuring. The fake device has no queue, so enqueue() runs a kernel
  // immediately.
  std::optional<Fault> enqueue(KernelId kernel, const LaunchPlan& plan,
                               std::span<const KernelArgument> arguments) override {
    return launch(kernel, plan, arguments);
  }
  std::variant<double, Fault> launch_timed(KernelId kernel, const LaunchPlan& plan,
                                           std::span<const KernelArgument> arguments) override;
  std::optional<Fault> finish() override { return std::nullopt; }
  void download_later(BufferId buffer, std::size_t offset, std::span<std::byte> data) override;
  std::variant<GraphId, Fault> make_graph(
      KernelId kernel, const LaunchPlan& plan,
      std::span<const std::vector<KernelArgument>> argument_sets, int launches) override;
  std::variant<double, Fault> run_graph(GraphId graph) override;
  void release_graph(GraphId graph) override;
  void flush_l2() override { ++flushes_; }

  // The functions of Predicting.
  std::variant<double, Fault> predict_us(KernelId kernel, const LaunchPlan& plan,
                                         std::span<const KernelArgument> arguments) override;

  /// Throws if a fault has lost the context, because every call on a real GPU then fails.
  void require_context() const;

  struct Buffer {
    BufferSpec spec;
    std::vector<std::byte> memory;  ///< guard zone, buffer, guard zone
  };
  struct LoadedKernel {
    Program program;
    Kernel run;
    std::int64_t launches = 0;
  };
  struct Graph {
    KernelId kernel = 0;
    LaunchPlan plan;
    std::vector<std::vector<KernelArgument>> sets;
    int launches = 1;
    std::int64_t samples = 0;
  };

  [[nodiscard]] std::optional<Fault> run(const LoadedKernel& loaded, const LaunchStep& step,
                                         std::span<const KernelArgument> parameters,
                                         std::int64_t number);

  FakeDeviceOptions options_;
  std::map<BufferId, Buffer> buffers_;
  std::map<KernelId, LoadedKernel> kernels_;
  std::map<GraphId, Graph> graphs_;
  std::uint32_t next_id_ = 1;
  std::int64_t flushes_ = 0;
  std::size_t memory_bytes_ = std::size_t{1} << 32;
  std::optional<MemoryUse> use_;
  int graphs_left_ = 1'000'000'000;
  bool lost_ = false;
  GpuMonitor* monitor_ = nullptr;
};

}  // namespace evo::fake
