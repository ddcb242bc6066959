#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "engine/device/cuda/driver.hpp"
#include "engine/device/device.hpp"

namespace evo {

/// Makes the Fault for a driver error; `what` begins its reason. The Fault marks the context as
/// lost unless the driver only refused to load or launch a kernel.
[[nodiscard]] Fault fault_of(const CudaDriver& driver, CUresult result, const std::string& what);

/// The stream on which kernels and memory operations run in order. copy_in(), copy_out(), wait()
/// and finish() wait for the queued work.
class CudaQueue {
 public:
  /// `driver` must outlive this object.
  explicit CudaQueue(const CudaDriver& driver) : driver_(driver) {}

  /// Creates the stream in the current context. Destroying the context destroys the stream. Throws
  /// CudaError.
  void open();
  [[nodiscard]] bool is_open() const { return stream_ != nullptr; }
  [[nodiscard]] CUstream stream() const { return stream_; }

  /// Checks the result of the call `what`, which only queues work. An error that an earlier launch
  /// may have caused is stored for finish(); any other error is thrown as CudaError.
  void require(CUresult result, const char* what);
  /// Checks the result of a launch. Returns the reason if the driver refused the launch; otherwise
  /// nullopt. An error that an earlier launch may have caused is stored for finish().
  [[nodiscard]] std::optional<Fault> launched(CUresult result);

  /// Copies from host to device. The host may reuse its data when the call returns.
  void copy_in(CUdeviceptr to, std::span<const std::byte> data);
  /// Copies from device to host.
  void copy_out(CUdeviceptr from, std::span<std::byte> data);

  /// Waits for the whole device, not only for this stream, because a kernel may have launched other
  /// kernels.
  [[nodiscard]] CUresult wait();
  /// Waits for all queued work, and returns its first fault.
  [[nodiscard]] std::optional<Fault> finish();
  /// True if an earlier call stored a fault, which finish() will return.
  [[nodiscard]] bool has_fault() const { return fault_.has_value(); }

 private:
  const CudaDriver& driver_;
  CUstream stream_ = nullptr;
  bool has_launches_ = false;   ///< a launch was queued since the last wait()
  std::optional<Fault> fault_;  ///< a fault of queued work, which finish() returns
};

}  // namespace evo
