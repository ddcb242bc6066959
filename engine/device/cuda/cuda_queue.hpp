#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "engine/device/cuda/driver.hpp"
#include "engine/device/device.hpp"

namespace evo {

/// Interprets a result of the driver: any error except a refusal may have destroyed the context.
[[nodiscard]] Fault fault_of(const CudaDriver& driver, CUresult result, const std::string& what);

/// The stream on which kernels run. Memory operations are queued on it as well, so that they keep
/// their order. The host waits only for data that it reads or frees.
class CudaQueue {
 public:
  /// `driver` must outlive this object.
  explicit CudaQueue(const CudaDriver& driver) : driver_(driver) {}

  /// Creates the stream in the current context. Destroying the context destroys the stream. Throws
  /// CudaError.
  void open();
  [[nodiscard]] bool is_open() const { return stream_ != nullptr; }
  [[nodiscard]] CUstream stream() const { return stream_; }

  /// For calls that only queue work: an error caused by an earlier launch is kept for finish(); any
  /// other error is thrown.
  void require(CUresult result, const char* what);
  /// The same for the result of a launch: returns why it was refused, or nullopt.
  [[nodiscard]] std::optional<Fault> launched(CUresult result);

  /// Copies from host to device. The host may reuse its data when the call returns.
  void copy_in(CUdeviceptr to, std::span<const std::byte> data);
  /// Copies from device to host.
  void copy_out(CUdeviceptr from, std::span<std::byte> data);

  /// Waits for the whole device rather than the stream, so that no work started by a kernel is
  /// missed.
  [[nodiscard]] CUresult wait();
  /// Waits, and returns the first fault of the queued work.
  [[nodiscard]] std::optional<Fault> finish();
  /// Records that a call reported a fault, which finish() will return.
  [[nodiscard]] bool has_fault() const { return fault_.has_value(); }

 private:
  const CudaDriver& driver_;
  CUstream stream_ = nullptr;
  bool has_launches_ = false;   ///< since the last wait()
  std::optional<Fault> fault_;  ///< the first fault of queued work, reported by a later call
};

}  // namespace evo
