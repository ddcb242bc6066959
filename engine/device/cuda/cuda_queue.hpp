#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "engine/device/cuda/driver.hpp"
#include "engine/device/device.hpp"

namespace evo {

/// What a result of the driver means: whatever is no refusal may have poisoned the context.
[[nodiscard]] Fault fault_of(const CudaDriver& driver, CUresult result, const std::string& what);

/// The stream that kernels run on. Everything that is done to memory is queued there as well, so
/// that nothing overtakes it; only what the host reads or gives away is waited for.
class CudaQueue {
 public:
  /// `driver` must outlive this.
  explicit CudaQueue(const CudaDriver& driver) : driver_(driver) {}

  /// Makes the stream, in the current context, which it goes with. Throws CudaError.
  void open();
  [[nodiscard]] bool is_open() const { return stream_ != nullptr; }
  [[nodiscard]] CUstream stream() const { return stream_; }

  /// For calls that only queue: an error that a launch queued before them made is kept for
  /// finish(); any other is thrown.
  void require(CUresult result, const char* what);
  /// The same for the result of a launch: why it was refused, or nothing.
  [[nodiscard]] std::optional<Fault> launched(CUresult result);

  /// Host to device; the data are there when it returns.
  void copy_in(CUdeviceptr to, std::span<const std::byte> data);
  /// Device to host.
  void copy_out(CUdeviceptr from, std::span<std::byte> data);

  /// Waits for the whole device, not the stream alone: nothing that a kernel left running
  /// elsewhere may go on or go uncounted.
  [[nodiscard]] CUresult wait();
  /// wait(), and the first fault of what was queued.
  [[nodiscard]] std::optional<Fault> finish();
  /// A call has reported a fault that finish() will tell.
  [[nodiscard]] bool has_fault() const { return fault_.has_value(); }

 private:
  const CudaDriver& driver_;
  CUstream stream_ = nullptr;
  bool has_launches_ = false;   ///< since the last wait()
  std::optional<Fault> fault_;  ///< that a later call reported
};

}  // namespace evo
