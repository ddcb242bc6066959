#include "tests/fakes/queued_device.hpp"

#include <algorithm>
#include <stdexcept>

#include "engine/core/error.hpp"

namespace evo::fake {

QueuedDevice::QueuedDevice(std::unique_ptr<Device> inner)
    : inner_(std::move(inner)), info_(inner_->info()) {
  info_.id = "queued:" + info_.id;
  info_.time_kind = TimeKind::kMeasured;
  // A peak of 0 disables the roofline bound, which might reject made-up times as impossibly short.
  info_.peak_tflops = 0;
  info_.peak_bandwidth_gbs = 0;
}

void QueuedDevice::require_context() const {
  if (lost_) throw std::logic_error("a call on a device that is lost");
}

/// Like a real driver, reports errors of earlier launches when the host waits for the device.
void QueuedDevice::wait_for_nothing_wrong() {
  if (const auto fault = finish()) throw CudaError(fault->reason);
}

void QueuedDevice::release(BufferId buffer) {
  require_context();
  queue_.emplace_back([=, this] {
    inner_->memory().release(buffer);
    return std::optional<Fault>();
  });
}

void QueuedDevice::upload(BufferId buffer, std::span<const std::byte> data, std::size_t offset) {
  wait_for_nothing_wrong();
  inner_->memory().upload(buffer, data, offset);
}

void QueuedDevice::download(BufferId buffer, std::span<std::byte> data, std::size_t offset) {
  wait_for_nothing_wrong();
  inner_->memory().download(buffer, data, offset);
  downloaded_bytes_ += data.size();
}

void QueuedDevice::poison(BufferId buffer, std::span<const std::byte> pattern) {
  require_context();
  // Uploads the poison as if it were data, because the virtual device, unlike a GPU, would
  // otherwise report reads of unwritten elements.
  std::vector<std::byte> content(inner_->memory().spec(buffer).bytes);
  for (std::size_t i = 0; i < content.size(); ++i) content[i] = pattern[i % pattern.size()];
  queue_.emplace_back([this, buffer, data = std::move(content)] {
    inner_->memory().upload(buffer, data);
    return std::optional<Fault>();
  });
}

std::optional<std::string> QueuedDevice::guard_violation(BufferId buffer) {
  wait_for_nothing_wrong();
  return inner_->memory().guard_violation(buffer);
}

std::variant<KernelId, Fault> QueuedDevice::load(const KernelImage& image) {
  require_context();
  auto loaded = inner_->load(image);
  const auto* kernel = std::get_if<KernelId>(&loaded);
  if (kernel != nullptr && image.entries.front() == "evo_mask_late") late_.insert(*kernel);
  return loaded;
}

std::optional<Fault> QueuedDevice::launch(KernelId kernel, const LaunchPlan& plan,
                                          std::span<const KernelArgument> arguments) {
  (void)enqueue(kernel, plan, arguments);
  return finish();
}

std::optional<Fault> QueuedDevice::enqueue(KernelId kernel, const LaunchPlan& plan,
                                           std::span<const KernelArgument> arguments) {
  require_context();
  const bool runs_first = is_after_late_ && !waits_;
  is_after_late_ = late_.contains(kernel);
  queue_.insert(runs_first ? queue_.end() - 1 : queue_.end(),
                [this, kernel, plan, copies = std::vector(arguments.begin(), arguments.end())] {
                  auto fault = inner_->launch(kernel, plan, copies);
                  if (fault) fault->device_lost = true;
                  return fault;
                });
  return std::nullopt;
}

std::optional<Fault> QueuedDevice::finish() {
  require_context();
  ++wait_count_;
  while (!queue_.empty()) {
    const auto step = std::move(queue_.front());
    queue_.pop_front();
    if (auto fault = step()) {
      queue_.clear();
      lost_ = fault->device_lost;
      return fault;
    }
  }
  return std::nullopt;
}

void QueuedDevice::download_later(BufferId buffer, std::size_t offset, std::span<std::byte> data) {
  require_context();
  queue_.emplace_back([=, this] {
    std::vector<std::byte> start(offset + data.size());
    inner_->memory().download(buffer, start);
    std::copy(start.begin() + static_cast<std::ptrdiff_t>(offset), start.end(), data.begin());
    downloaded_bytes_ += data.size();
    return std::optional<Fault>();
  });
}

std::variant<GraphId, Fault> QueuedDevice::make_graph(
    KernelId kernel, const LaunchPlan& plan,
    std::span<const std::vector<KernelArgument>> argument_sets, int launches) {
  require_context();
  graphs_[next_graph_] = {kernel, plan, {argument_sets.begin(), argument_sets.end()}, launches};
  return next_graph_++;
}

std::variant<double, Fault> QueuedDevice::launch_timed(KernelId kernel, const LaunchPlan& plan,
                                                       std::span<const KernelArgument> arguments) {
  constexpr double kLaunchUs = 60;
  if (auto fault = launch(kernel, plan, arguments)) return *std::move(fault);
  return kLaunchUs;
}

std::variant<double, Fault> QueuedDevice::run_graph(GraphId graph) {
  const Graph& target = graphs_.at(graph);
  const auto different =
      std::min<std::size_t>(target.sets.size(), static_cast<std::size_t>(target.launches));
  for (std::size_t i = 0; i < different; ++i) {
    (void)enqueue(target.kernel, target.plan, target.sets[i]);
  }
  if (auto fault = finish()) return *fault;
  constexpr double kLaunchUs = 50;
  return kLaunchUs * target.launches;
}

}  // namespace evo::fake
