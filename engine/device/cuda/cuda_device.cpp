#include "engine/device/cuda/cuda_device.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "engine/device/cuda/cuda_arguments.hpp"
#include "engine/device/cuda/cuda_buffers.hpp"
#include "engine/device/cuda/cuda_graphs.hpp"
#include "engine/device/cuda/cuda_info.hpp"
#include "engine/device/cuda/cuda_kernel.hpp"
#include "engine/device/cuda/cuda_launch.hpp"
#include "engine/device/cuda/cuda_queue.hpp"
#include "engine/device/cuda/cuda_tensor_map.hpp"
#include "engine/device/cuda/driver.hpp"
#include "engine/device/cuda/nvml.hpp"
#include "engine/device/launch_steps.hpp"

namespace evo {
namespace {

/// If a launch sets only the first part of a __constant__ variable without initial value, the rest
/// is filled with a repeated byte from 1 to kMostFiller. An element that consists of one repeated
/// byte from this range is not zero in any type, and different bytes give different elements.
constexpr unsigned char kMostFiller = 126;

/// A CUDA graph, and the buffers that are copied to its kernel's __constant__ variables before the
/// graph runs.
struct Graph {
  CUgraphExec executable = nullptr;
  KernelId kernel = 0;
  std::vector<KernelArgument> constants;
};

class CudaDevice final : public Device, private Measuring {
 public:
  explicit CudaDevice(int ordinal);
  ~CudaDevice() override;
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;

  [[nodiscard]] const DeviceInfo& info() const override { return info_; }
  [[nodiscard]] DeviceMemory& memory() override { return buffers_; }
  [[nodiscard]] DeviceTextures* textures() override { return &buffers_; }
  [[nodiscard]] Measuring* measuring() override { return this; }
  [[nodiscard]] GpuMonitor* monitor() override { return monitor_.get(); }
  std::variant<KernelId, Fault> load(const KernelImage& image) override;
  void unload(KernelId kernel) override;
  [[nodiscard]] std::optional<std::string> variables_hash(KernelId kernel) const override;
  std::optional<Fault> launch(KernelId kernel, const LaunchPlan& plan,
                              std::span<const KernelArgument> arguments) override;

 private:
  // The member functions of the interface Measuring.
  std::optional<Fault> enqueue(KernelId kernel, const LaunchPlan& plan,
                               std::span<const KernelArgument> arguments) override;
  std::variant<double, Fault> launch_timed(KernelId kernel, const LaunchPlan& plan,
                                           std::span<const KernelArgument> arguments) override;
  [[nodiscard]] bool starts_early(KernelId kernel, const LaunchPlan& plan) const override {
    const CudaEntry& first = kernels_.at(kernel).entries.at(plan.steps.front().entry);
    return first.function.attributes.programmatic;
  }
  std::optional<Fault> finish() override { return queue_.finish(); }
  void download_later(BufferId buffer, std::size_t offset, std::span<std::byte> data) override;
  [[nodiscard]] std::shared_ptr<std::byte[]> host_memory(std::size_t bytes) override;
  std::variant<GraphId, Fault> make_graph(
      KernelId kernel, const LaunchPlan& plan,
      std::span<const std::vector<KernelArgument>> argument_sets, int launches) override;
  std::variant<double, Fault> run_graph(GraphId graph) override;
  void release_graph(GraphId graph) override;
  void flush_l2() override;
  void begin_profile() override {
    if (driver_.profiler_start != nullptr)
      driver_.require(driver_.profiler_start(), "cuProfilerStart");
  }
  void end_profile() override {
    if (driver_.profiler_stop != nullptr)
      driver_.require(driver_.profiler_stop(), "cuProfilerStop");
  }

  /// Returns the arguments that set __constant__ variables. They follow the kernel's parameters.
  [[nodiscard]] std::span<const KernelArgument> constants_of(
      KernelId kernel, std::span<const KernelArgument> arguments) const;
  /// The reason why `arguments` do not fit the kernel; nullopt if they fit.
  [[nodiscard]] std::optional<Fault> misfit(KernelId kernel, const LaunchPlan& plan,
                                            std::span<const KernelArgument> arguments) const;
  void set_constants(KernelId kernel, std::span<const KernelArgument> values);
  CUresult queue_step(CudaEntry& entry, const LaunchConfig& config,
                      std::span<const KernelArgument> parameters);
  /// Queues the launches of all steps, and stops at the first launch that the driver refuses.
  CUresult launch_on(KernelId kernel, const LaunchPlan& plan,
                     std::span<const KernelArgument> arguments);

  CudaDriver driver_;
  CUdevice device_ = 0;
  CudaQueue queue_;
  CudaGraphs timed_;
  DeviceInfo info_;
  std::unique_ptr<NvmlMonitor> monitor_;
  CudaBuffers buffers_;
  std::map<KernelId, CudaKernel> kernels_;
  std::map<GraphId, Graph> graphs_;
  std::uint32_t next_id_ = 1;
  BufferId flush_buffer_ = 0;
  unsigned char filler_ = 0;  ///< last used filler byte
};

CudaDevice::CudaDevice(int ordinal)
    : driver_(CudaDriver::open()),
      queue_(driver_),
      timed_(driver_, queue_),
      buffers_(driver_, queue_) {
  device_ = find_cuda_device(driver_, ordinal);
  monitor_ = NvmlMonitor::open(read_pci_bus_id(driver_, device_));
  (void)retain_context(driver_, device_, ordinal);
  // Disables the part of the L2 cache that is set aside for persisting accesses. A kernel could
  // reserve lines of the L2 cache for itself at the expense of later kernels, and resetting the
  // lines after each kernel would slow launches down.
  driver_.cuCtxSetLimit(CU_LIMIT_PERSISTING_L2_CACHE_SIZE, 0);
  if (monitor_) monitor_->find_own_process();
  queue_.open();
  timed_.open();
  info_ = read_cuda_info(driver_, device_, ordinal);
  info_.counts_energy = monitor_ && monitor_->energy_mj().has_value();
}

CudaDevice::~CudaDevice() {
  // If the constructor throws, nothing releases the context; the driver destroys the context when
  // the process ends.
  if (queue_.is_open()) driver_.cuDevicePrimaryCtxRelease(device_);
}

std::variant<KernelId, Fault> CudaDevice::load(const KernelImage& image) {
  auto kernel = load_kernel(driver_, image);
  if (auto* fault = std::get_if<Fault>(&kernel)) return std::move(*fault);
  const KernelId id = next_id_++;
  CudaKernel& loaded = kernels_[id] = std::get<CudaKernel>(std::move(kernel));
  for (CudaConstant& constant : loaded.constants) {
    std::vector<std::byte> content(constant.address == 0 ? 0 : constant.bytes);
    if (!content.empty()) queue_.copy_out(constant.address, content);
    constant.has_value =
        std::ranges::any_of(content, [](std::byte byte) { return byte != std::byte{0}; });
  }
  return id;
}

std::span<const KernelArgument> CudaDevice::constants_of(
    KernelId kernel, std::span<const KernelArgument> arguments) const {
  return arguments.last(std::min(kernels_.at(kernel).constants.size(), arguments.size()));
}

std::optional<Fault> CudaDevice::misfit(KernelId kernel, const LaunchPlan& plan,
                                        std::span<const KernelArgument> arguments) const {
  const CudaKernel& target = kernels_.at(kernel);
  const auto values = constants_of(kernel, arguments);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const BufferSpec spec = buffers_.spec(std::get<BufferId>(values[i]));
    if (auto refused = mismatch(target.constants[i], spec)) return refused;
  }
  arguments = arguments.first(arguments.size() - values.size());
  for (const LaunchStep& step : plan.steps) {
    const CudaEntry& entry = target.entries.at(step.entry);
    auto refused = mismatch(entry.parameter_bytes, parameters_of(step, arguments));
    if (refused) return in_step(*std::move(refused), plan, entry.symbol);
  }
  return std::nullopt;
}

/// Queues copies of `values` to the kernel's __constant__ variables before later launches. If an
/// argument sets only the first part of a variable that has no initial value, each call fills the
/// rest with a different byte, so that a kernel that reads the rest gives varying results.
void CudaDevice::set_constants(KernelId kernel, std::span<const KernelArgument> values) {
  const std::vector<CudaConstant>& constants = kernels_.at(kernel).constants;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (constants[i].address == 0) continue;
    const auto source = std::get<BufferId>(values[i]);
    const std::size_t bytes = buffers_.spec(source).bytes;
    queue_.require(driver_.cuMemcpyDtoDAsync(constants[i].address, buffers_.data(source), bytes,
                                             queue_.stream()),
                   "cuMemcpyDtoDAsync to a __constant__ variable");
    const std::size_t rest = constants[i].bytes - bytes;
    if (rest == 0 || constants[i].has_value) continue;
    filler_ = static_cast<unsigned char>(filler_ % kMostFiller + 1);
    queue_.require(
        driver_.cuMemsetD8Async(constants[i].address + bytes, filler_, rest, queue_.stream()),
        "cuMemsetD8Async in a __constant__ variable");
  }
}

std::optional<std::string> CudaDevice::variables_hash(KernelId kernel) const {
  if (kernels_.at(kernel).has_variables) return std::nullopt;
  return "";
}

void CudaDevice::unload(KernelId kernel) {
  driver_.require(driver_.cuModuleUnload(kernels_.at(kernel).module), "cuModuleUnload");
  kernels_.erase(kernel);
}

CUresult CudaDevice::queue_step(CudaEntry& entry, const LaunchConfig& config,
                                std::span<const KernelArgument> parameters) {
  std::vector<CUdeviceptr> handles(parameters.size());
  std::vector<CUtensorMap> maps(parameters.size());
  std::vector<const void*> values;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (const auto* scalar = std::get_if<ScalarArgument>(&parameters[i])) {
      values.push_back(scalar->bytes.data());
      continue;
    }
    if (const auto* map = std::get_if<TensorMapArgument>(&parameters[i])) {
      const auto made = encode_tensor_map(driver_, map->spec, buffers_.data(map->buffer));
      if (const auto* refused = std::get_if<CUresult>(&made)) return *refused;
      maps[i] = std::get<CUtensorMap>(made);
      values.push_back(&maps[i]);
      continue;
    }
    const auto* texture = std::get_if<TextureId>(&parameters[i]);
    handles[i] = texture != nullptr ? buffers_.handle(*texture)
                                    : buffers_.data(std::get<BufferId>(parameters[i]));
    values.push_back(&handles[i]);
  }
  return queue_launch(driver_, entry.function, queue_.stream(), config, values);
}

CUresult CudaDevice::launch_on(KernelId kernel, const LaunchPlan& plan,
                               std::span<const KernelArgument> arguments) {
  arguments = arguments.first(arguments.size() - constants_of(kernel, arguments).size());
  for (const LaunchStep& step : plan.steps) {
    const CUresult queued = queue_step(kernels_.at(kernel).entries.at(step.entry), step.config,
                                       parameters_of(step, arguments));
    if (queued != CUDA_SUCCESS) return queued;
  }
  return CUDA_SUCCESS;
}

std::optional<Fault> CudaDevice::enqueue(KernelId kernel, const LaunchPlan& plan,
                                         std::span<const KernelArgument> arguments) {
  if (queue_.has_fault()) return std::nullopt;  // finish() reports the fault
  if (auto refused = misfit(kernel, plan, arguments)) return refused;
  set_constants(kernel, constants_of(kernel, arguments));
  return queue_.launched(launch_on(kernel, plan, arguments));
}

std::optional<Fault> CudaDevice::launch(KernelId kernel, const LaunchPlan& plan,
                                        std::span<const KernelArgument> arguments) {
  if (auto refused = enqueue(kernel, plan, arguments)) return refused;
  return finish();
}

std::variant<double, Fault> CudaDevice::launch_timed(KernelId kernel, const LaunchPlan& plan,
                                                     std::span<const KernelArgument> arguments) {
  if (auto refused = misfit(kernel, plan, arguments)) return *std::move(refused);
  set_constants(kernel, constants_of(kernel, arguments));
  return timed_.time([&] { return queue_.launched(launch_on(kernel, plan, arguments)); });
}

void CudaDevice::download_later(BufferId buffer, std::size_t offset, std::span<std::byte> data) {
  queue_.require(driver_.cuMemcpyDtoHAsync(data.data(), buffers_.data(buffer) + offset, data.size(),
                                           queue_.stream()),
                 "cuMemcpyDtoHAsync");
}

std::shared_ptr<std::byte[]> CudaDevice::host_memory(std::size_t bytes) {
  // The memory is page-locked, so that copies to it are queued like other work, and completed
  // copies survive the loss of the context.
  void* memory = nullptr;
  driver_.require(driver_.cuMemHostAlloc(&memory, bytes, 0), "cuMemHostAlloc");
  return {static_cast<std::byte*>(memory),
          [free = driver_.cuMemFreeHost](std::byte* data) { free(data); }};
}

std::variant<GraphId, Fault> CudaDevice::make_graph(
    KernelId kernel, const LaunchPlan& plan,
    std::span<const std::vector<KernelArgument>> argument_sets, int launches) {
  for (const auto& arguments : argument_sets) {
    if (auto refused = misfit(kernel, plan, arguments)) return *refused;
  }
  const auto captured = timed_.capture([&] {
    CUresult refused = CUDA_SUCCESS;
    for (int i = 0; i < launches && refused == CUDA_SUCCESS; ++i) {
      const auto& arguments = argument_sets[static_cast<std::size_t>(i) % argument_sets.size()];
      refused = launch_on(kernel, plan, arguments);
    }
    return refused;
  });
  if (const auto* refused = std::get_if<Fault>(&captured)) return *refused;
  const GraphId id = next_id_++;
  const auto constants = constants_of(kernel, argument_sets.front());
  graphs_[id] = {std::get<CUgraphExec>(captured), kernel, {constants.begin(), constants.end()}};
  return id;
}

std::variant<double, Fault> CudaDevice::run_graph(GraphId graph) {
  const Graph& chosen = graphs_.at(graph);
  set_constants(chosen.kernel, chosen.constants);
  return timed_.run(chosen.executable);
}

void CudaDevice::release_graph(GraphId graph) {
  timed_.release(graphs_.at(graph).executable);
  graphs_.erase(graph);
}

void CudaDevice::flush_l2() {
  constexpr std::size_t kTimesL2 = 2;
  if (flush_buffer_ == 0) {
    flush_buffer_ =
        buffers_.allocate({"l2 flush", kTimesL2 * static_cast<std::size_t>(info_.l2_bytes), true});
  }
  buffers_.fill(flush_buffer_, std::byte{0});
}

}  // namespace

std::unique_ptr<Device> open_cuda_device(int ordinal) {
  return std::make_unique<CudaDevice>(ordinal);
}

}  // namespace evo
