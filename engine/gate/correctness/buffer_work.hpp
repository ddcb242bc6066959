#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/device/device.hpp"
#include "engine/gate/correctness/compare.hpp"
#include "engine/gate/correctness/kept_contents.hpp"

namespace evo {

/// A pending check of a buffer, whose result is read later.
using Look = std::size_t;

/// Fills, copies and checks buffers, on the host (HostWork) or by kernels on the device
/// (DeviceWork), whichever is faster. Both give the same results to the last bit, except sums,
/// which agree within 1e-12.
///
/// Operations run in the order of their calls, launches included. Results of checks are available
/// after finish(); on the host, at once. After a fault that lost the device, the results of checks
/// before the failed launch may be available; no other call is allowed.
class BufferWork {
 public:
  BufferWork() = default;
  virtual ~BufferWork() = default;
  BufferWork(const BufferWork&) = delete;
  BufferWork& operator=(const BufferWork&) = delete;

  [[nodiscard]] virtual Device& device() = 0;

  [[nodiscard]] virtual KeptContents& kept() = 0;

  /// Launches a kernel: at once if checks run on the host, otherwise queued (Measuring::enqueue).
  [[nodiscard]] virtual std::optional<Fault> launch(KernelId kernel, const LaunchPlan& plan,
                                                    std::span<const KernelArgument> arguments) = 0;

  /// Discards the results of all checks.
  virtual void begin() = 0;
  /// Compares the start of an output with the expected elements, as compare() does. The number of
  /// compared elements is that of `expected`.
  [[nodiscard]] virtual Look compare(BufferId output, KeptId expected, Dtype dtype,
                                     double bad_abs_error, std::size_t row_length) = 0;
  /// Finds the first byte that differs from the kept content.
  [[nodiscard]] virtual Look first_difference(BufferId buffer, KeptId kept) = 0;
  /// Checks guard zones as DeviceMemory::guard_violation() does. Only the host's version repairs
  /// them.
  [[nodiscard]] virtual Look guard_zones(BufferId buffer) = 0;
  /// Marks the end of a group of checks; see finish().
  virtual void mark() = 0;

  /// Waits for everything that was queued. Returns the fault of a queued launch; is_known() then
  /// tells which checks came before it.
  [[nodiscard]] virtual std::optional<Fault> finish() = 0;

  [[nodiscard]] virtual bool is_known(Look look) const = 0;
  // The result of a finished check. Throws CudaError if the kept content no longer matches its
  // seal.
  [[nodiscard]] virtual Comparison comparison(Look look) const = 0;
  [[nodiscard]] virtual std::optional<std::size_t> difference(Look look) const = 0;
  [[nodiscard]] virtual std::optional<std::string> guard_damage(Look look) const = 0;
};

/// The host's version: downloads buffers one after the other. `device` must outlive it.
[[nodiscard]] std::unique_ptr<BufferWork> make_host_work(Device& device);

/// The device's version, with the kernels of check_kernels.cu. `kernels`: their image, with any
/// entries. `device` must outlive it. Throws CudaError if the device does not support them.
[[nodiscard]] std::unique_ptr<BufferWork> make_device_work(Device& device,
                                                           const KernelImage& kernels);

}  // namespace evo
