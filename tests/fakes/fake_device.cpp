#include "tests/fakes/fake_device.hpp"

#include <algorithm>
#include <stdexcept>

#include "engine/core/environment.hpp"
#include "engine/core/error.hpp"
#include "engine/device/guard.hpp"
#include "engine/device/launch_steps.hpp"

namespace evo::fake {

DeviceInfo fake_info(TimeKind kind) {
  DeviceInfo info;
  info.id = kind == TimeKind::kMeasured ? "fake:measured" : "fake:predicted";
  info.name = "fake GPU";
  info.arch = "sm_90";
  info.time_kind = kind;
  info.sm_count = 4;
  info.clock_mhz = 1000;
  info.max_shared_bytes_per_cta = 99 * 1024;
  info.l2_bytes = 1 << 20;
  info.peak_tflops = 100;
  info.peak_bandwidth_gbs = 1000;
  info.driver = "fake 1.0";
  info.uuid = environment_variable("EVO_FAKE_UUID").value_or("");
  return info;
}

void FakeDevice::require_context() const {
  if (lost_) throw std::logic_error("a call on a device that is lost");
}

BufferId FakeDevice::allocate(const BufferSpec& spec) {
  require_context();
  std::size_t used = 0;
  for (const auto& [id, buffer] : buffers_) used += buffer.spec.bytes;
  if (spec.bytes > memory_bytes_ || used > memory_bytes_ - spec.bytes) {
    throw DeviceMemoryError("buffer '" + spec.name + "' does not fit");
  }
  Buffer buffer{spec, guard_pattern()};
  // New memory has arbitrary content, as on a GPU: neither zeros nor poison.
  buffer.memory.resize(kGuardBytes + spec.bytes, std::byte{0xa5});
  const std::vector<std::byte> pattern = guard_pattern();
  buffer.memory.insert(buffer.memory.end(), pattern.begin(), pattern.end());
  const BufferId id = next_id_++;
  buffers_[id] = std::move(buffer);
  return id;
}

void FakeDevice::release(BufferId buffer) {
  require_context();
  if (buffers_.erase(buffer) == 0) throw std::logic_error("released twice, or never allocated");
}

void FakeDevice::upload(BufferId buffer, std::span<const std::byte> data, std::size_t offset) {
  require_context();
  Buffer& target = buffers_.at(buffer);
  if (offset + data.size() > target.spec.bytes)
    throw std::logic_error("upload of more bytes than the buffer has");
  std::copy(data.begin(), data.end(),
            target.memory.begin() + static_cast<std::ptrdiff_t>(kGuardBytes + offset));
}

void FakeDevice::download(BufferId buffer, std::span<std::byte> data, std::size_t offset) {
  require_context();
  const Buffer& source = buffers_.at(buffer);
  if (offset + data.size() > source.spec.bytes)
    throw std::logic_error("download of more bytes than the buffer has");
  std::copy_n(source.memory.begin() + static_cast<std::ptrdiff_t>(kGuardBytes + offset),
              data.size(), data.begin());
}

void FakeDevice::fill(BufferId buffer, std::byte value) {
  require_context();
  Buffer& target = buffers_.at(buffer);
  std::fill_n(target.memory.begin() + kGuardBytes, target.spec.bytes, value);
}

void FakeDevice::poison(BufferId buffer, std::span<const std::byte> pattern) {
  require_context();
  Buffer& target = buffers_.at(buffer);
  for (std::size_t i = 0; i < target.spec.bytes; ++i) {
    target.memory[kGuardBytes + i] = pattern[i % pattern.size()];
  }
}

std::optional<std::string> FakeDevice::guard_violation(BufferId buffer) {
  require_context();
  Buffer& target = buffers_.at(buffer);
  const std::span<std::byte> all = target.memory;
  const auto before = all.first(kGuardBytes);
  const auto after = all.last(kGuardBytes);
  auto violation = find_guard_violation(target.spec.name, target.spec.bytes, before, after);
  const std::vector<std::byte> pattern = guard_pattern();
  std::copy(pattern.begin(), pattern.end(), before.begin());
  std::copy(pattern.begin(), pattern.end(), after.begin());
  return violation;
}

std::variant<KernelId, Fault> FakeDevice::load(const KernelImage& image) {
  LoadedKernel kernel{from_ptx(image.ptx), {}};
  auto linked = options_.link(kernel.program);
  if (const auto* fault = std::get_if<Fault>(&linked)) return *fault;
  kernel.run = std::get<Kernel>(std::move(linked));
  const KernelId id = next_id_++;
  kernels_[id] = std::move(kernel);
  return id;
}

void FakeDevice::unload(KernelId kernel) {
  if (kernels_.erase(kernel) == 0) throw std::logic_error("unloaded twice, or never loaded");
}

std::optional<Fault> FakeDevice::launch(KernelId kernel, const LaunchPlan& plan,
                                        std::span<const KernelArgument> arguments) {
  LoadedKernel& loaded = kernels_.at(kernel);
  const std::int64_t number = loaded.launches++;
  for (const LaunchStep& step : plan.steps) {
    if (auto fault = run(loaded, step, parameters_of(step, arguments), number)) return fault;
  }
  return std::nullopt;
}

std::optional<Fault> FakeDevice::run(const LoadedKernel& loaded, const LaunchStep& step,
                                     std::span<const KernelArgument> parameters,
                                     std::int64_t number) {
  Launch launch{{}, step.config, step.entry, number};
  std::vector<ScalarArgument> scalars;
  scalars.reserve(parameters.size());  // pointers to its elements must stay valid
  for (const KernelArgument& argument : parameters) {
    if (const auto* buffer = std::get_if<BufferId>(&argument)) {
      launch.arguments.push_back(buffers_.at(*buffer).memory.data() + kGuardBytes);
    } else {
      scalars.push_back(std::get<ScalarArgument>(argument));
      launch.arguments.push_back(scalars.back().bytes.data());
    }
  }
  require_context();
  auto fault = loaded.run(launch);
  lost_ = fault && fault->device_lost;
  return fault;
}

void FakeDevice::download_later(BufferId buffer, std::size_t offset, std::span<std::byte> data) {
  require_context();
  const Buffer& source = buffers_.at(buffer);
  std::copy_n(source.memory.begin() + static_cast<std::ptrdiff_t>(kGuardBytes + offset),
              data.size(), data.begin());
}

std::variant<GraphId, Fault> FakeDevice::make_graph(
    KernelId kernel, const LaunchPlan& plan,
    std::span<const std::vector<KernelArgument>> argument_sets, int launches) {
  require_context();
  if (graphs_left_-- == 0) return Fault{"the graph was refused", "", false};
  const GraphId id = next_id_++;
  graphs_[id] = {kernel, plan, {argument_sets.begin(), argument_sets.end()}, launches};
  return id;
}

std::variant<double, Fault> FakeDevice::launch_timed(KernelId kernel, const LaunchPlan& plan,
                                                     std::span<const KernelArgument> arguments) {
  if (auto fault = launch(kernel, plan, arguments)) return *std::move(fault);
  return options_.time_us ? options_.time_us(kernels_.at(kernel).program, -1) : 0;
}

std::variant<double, Fault> FakeDevice::run_graph(GraphId graph) {
  Graph& target = graphs_.at(graph);
  const auto different =
      std::min<std::size_t>(target.sets.size(), static_cast<std::size_t>(target.launches));
  for (std::size_t i = 0; i < different; ++i) {
    if (auto fault = launch(target.kernel, target.plan, target.sets[i])) return *fault;
  }
  LoadedKernel& kernel = kernels_.at(target.kernel);
  kernel.launches += target.launches - static_cast<std::int64_t>(different);
  return options_.time_us(kernel.program, target.samples++) * target.launches;
}

void FakeDevice::release_graph(GraphId graph) {
  require_context();
  if (graphs_.erase(graph) == 0) throw std::logic_error("graph released twice, or never made");
}

std::variant<double, Fault> FakeDevice::predict_us(KernelId kernel, const LaunchPlan& plan,
                                                   std::span<const KernelArgument> arguments) {
  if (auto fault = launch(kernel, plan, arguments)) return *fault;
  return options_.time_us(kernels_.at(kernel).program, 0);
}

}  // namespace evo::fake
