#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "engine/device/device.hpp"

namespace evo::fake {

/// Imitates a GPU by means of a virtual device: reports made-up times as measured, does not track
/// which elements are written, and runs queued work only when the host waits. After the first
/// fault, the device is lost, and later work in the queue never runs.
class QueuedDevice final : public Device, private DeviceMemory, private Measuring {
 public:
  explicit QueuedDevice(std::unique_ptr<Device> inner);

  [[nodiscard]] const DeviceInfo& info() const override { return info_; }
  [[nodiscard]] DeviceMemory& memory() override { return *this; }
  [[nodiscard]] Measuring* measuring() override { return this; }
  std::variant<KernelId, Fault> load(const KernelImage& image) override;
  void unload(KernelId kernel) override { inner_->unload(kernel); }
  [[nodiscard]] std::optional<std::string> variables_hash(KernelId) const override { return ""; }
  std::optional<Fault> launch(KernelId kernel, const LaunchPlan& plan,
                              std::span<const KernelArgument> arguments) override;

  /// After this call, every kernel may start before the preceding kernel has ended. If `waits` is
  /// false, a kernel runs before a preceding KeptContents::put_back_late(), as if the kernel lacked
  /// griddepcontrol.wait.
  void start_early(bool waits) {
    starts_early_ = true;
    waits_ = waits;
  }

  // Counters for tests. waits(): how often the host has waited for the device.
  [[nodiscard]] std::size_t waits() const { return wait_count_; }
  [[nodiscard]] std::size_t downloaded_bytes() const { return downloaded_bytes_; }

 private:
  // The functions of DeviceMemory.
  /// Makes all buffers writable, because kernels on a GPU can write to any buffer.
  BufferId allocate(const BufferSpec& spec) override {
    return inner_->memory().allocate({spec.name, spec.bytes, true});
  }
  void release(BufferId buffer) override;
  [[nodiscard]] BufferSpec spec(BufferId buffer) const override {
    return inner_->memory().spec(buffer);
  }
  void upload(BufferId buffer, std::span<const std::byte> data, std::size_t offset) override;
  void download(BufferId buffer, std::span<std::byte> data, std::size_t offset) override;
  void fill(BufferId buffer, std::byte value) override { poison(buffer, std::span(&value, 1)); }
  void poison(BufferId buffer, std::span<const std::byte> pattern) override;
  std::optional<std::string> guard_violation(BufferId buffer) override;

  // The functions of Measuring.
  std::optional<Fault> enqueue(KernelId kernel, const LaunchPlan& plan,
                               std::span<const KernelArgument> arguments) override;
  std::variant<double, Fault> launch_timed(KernelId kernel, const LaunchPlan& plan,
                                           std::span<const KernelArgument> arguments) override;
  [[nodiscard]] bool starts_early(KernelId, const LaunchPlan&) const override {
    return starts_early_;
  }
  std::optional<Fault> finish() override;
  void download_later(BufferId buffer, std::size_t offset, std::span<std::byte> data) override;
  std::variant<GraphId, Fault> make_graph(
      KernelId kernel, const LaunchPlan& plan,
      std::span<const std::vector<KernelArgument>> argument_sets, int launches) override;
  std::variant<double, Fault> run_graph(GraphId graph) override;
  void release_graph(GraphId graph) override { graphs_.erase(graph); }
  void flush_l2() override {}

  struct Graph {
    KernelId kernel = 0;
    LaunchPlan plan;
    std::vector<std::vector<KernelArgument>> sets;
    int launches = 0;
  };

  void wait_for_nothing_wrong();
  void require_context() const;

  std::unique_ptr<Device> inner_;
  DeviceInfo info_;
  std::deque<std::function<std::optional<Fault>()>> queue_;
  std::map<GraphId, Graph> graphs_;
  GraphId next_graph_ = 1;
  bool lost_ = false;
  std::size_t wait_count_ = 0;
  bool starts_early_ = false;
  bool waits_ = true;        ///< whether kernels wait for the previous kernel
  std::set<KernelId> late_;  ///< kernels that let the next kernel start before they write
  bool is_after_late_ = false;
  std::size_t downloaded_bytes_ = 0;
};

}  // namespace evo::fake
