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

/// The number of a queued check of a buffer, with which the result of the check is read later.
using Look = std::size_t;

/// Fills, copies and checks buffers, on the host (HostWork) or by kernels on the device
/// (DeviceWork); takes_check_kernels() says which of the two is faster. HostWork and DeviceWork
/// give bitwise equal results, except for errors relative to the reference, which are computed from
/// sums and agree within a relative 1e-12.
///
/// Operations and launches run in the order of the calls. HostWork knows the result of a check at
/// once; DeviceWork knows the result after finish(). After a fault that lost the device, only
/// is_known() and the results of checks before the failed launch may be read.
class BufferWork {
 public:
  BufferWork() = default;
  virtual ~BufferWork() = default;
  BufferWork(const BufferWork&) = delete;
  BufferWork& operator=(const BufferWork&) = delete;

  [[nodiscard]] virtual Device& device() = 0;

  [[nodiscard]] virtual KeptContents& kept() = 0;

  /// Launches a kernel. HostWork waits for the end of the launch; DeviceWork only queues it
  /// (Measuring::enqueue).
  [[nodiscard]] virtual std::optional<Fault> launch(KernelId kernel, const LaunchPlan& plan,
                                                    std::span<const KernelArgument> arguments) = 0;

  /// Discards the results of all checks.
  virtual void begin() = 0;
  /// Compares the first elements of an output with all elements of `expected`, as compare() does.
  [[nodiscard]] virtual Look compare(BufferId output, KeptId expected, Dtype dtype,
                                     double bad_abs_error, std::size_t row_length) = 0;
  /// Finds the first byte of `buffer` that differs from the copy `kept`.
  [[nodiscard]] virtual Look first_difference(BufferId buffer, KeptId kept) = 0;
  /// Checks guard zones as DeviceMemory::guard_violation() does. Only HostWork repairs overwritten
  /// zones.
  [[nodiscard]] virtual Look guard_zones(BufferId buffer) = 0;
  /// Ends a group of checks, whose results DeviceWork copies to the host together.
  virtual void mark() = 0;

  /// Waits for all queued operations. Returns the fault if a queued launch failed; is_known() is
  /// then true only for checks before the failed launch.
  [[nodiscard]] virtual std::optional<Fault> finish() = 0;

  [[nodiscard]] virtual bool is_known(Look look) const = 0;
  // Returns the result of a finished check. Throws CudaError if the expected content in device
  // memory has been overwritten since its fingerprint was recorded.
  [[nodiscard]] virtual Comparison comparison(Look look) const = 0;
  [[nodiscard]] virtual std::optional<std::size_t> difference(Look look) const = 0;
  [[nodiscard]] virtual std::optional<std::string> guard_violation(Look look) const = 0;
};

/// Makes a HostWork, which downloads one buffer after the other. `device` must outlive the
/// HostWork.
[[nodiscard]] std::unique_ptr<BufferWork> make_host_work(Device& device);

/// Makes a DeviceWork, which runs the kernels of check_kernels.cu. `kernels`: the compiled image of
/// check_kernels.cu; its `entries` are ignored. `device` must outlive the DeviceWork. Throws
/// CudaError if the device cannot run the kernels.
[[nodiscard]] std::unique_ptr<BufferWork> make_device_work(Device& device,
                                                           const KernelImage& kernels);

}  // namespace evo
