#include "engine/device/cuda/cuda_queue.hpp"

#include <utility>

namespace evo {

Fault fault_of(const CudaDriver& driver, CUresult result, const std::string& what) {
  const bool refused =
      result == CUDA_ERROR_INVALID_VALUE || result == CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES ||
      result == CUDA_ERROR_NO_BINARY_FOR_GPU || result == CUDA_ERROR_INVALID_IMAGE ||
      result == CUDA_ERROR_NOT_FOUND || result == CUDA_ERROR_INVALID_PTX ||
      result == CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE ||
      result == CUDA_ERROR_INVALID_CLUSTER_SIZE;
  // After any error except a refused load or launch, the context may be unusable.
  return {what + ": " + driver.describe(result), "", !refused};
}

void CudaQueue::open() {
  driver_.require(driver_.cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
}

void CudaQueue::require(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return;
  const Fault found = fault_of(driver_, result, "the kernel failed");
  if (!has_launches_ || !found.device_lost) driver_.require(result, what);
  if (!fault_) fault_ = found;
}

std::optional<Fault> CudaQueue::launched(CUresult result) {
  if (result != CUDA_SUCCESS) {
    const Fault refused = fault_of(driver_, result, "the launch was refused");
    // An error that destroys the context may come from an earlier launch, so it is stored for
    // finish().
    if (!has_launches_ || !refused.device_lost) return refused;
    fault_ = fault_of(driver_, result, "the kernel failed");
  }
  has_launches_ = true;
  return std::nullopt;
}

void CudaQueue::copy_in(CUdeviceptr to, std::span<const std::byte> data) {
  driver_.require(driver_.cuMemcpyHtoDAsync(to, data.data(), data.size(), stream_),
                  "cuMemcpyHtoDAsync");
  driver_.require(driver_.cuStreamSynchronize(stream_), "cuStreamSynchronize");
}

void CudaQueue::copy_out(CUdeviceptr from, std::span<std::byte> data) {
  driver_.require(driver_.cuMemcpyDtoHAsync(data.data(), from, data.size(), stream_),
                  "cuMemcpyDtoHAsync");
  driver_.require(driver_.cuStreamSynchronize(stream_), "cuStreamSynchronize");
}

CUresult CudaQueue::wait() {
  const CUresult result = driver_.cuCtxSynchronize();
  has_launches_ = false;
  return result;
}

std::optional<Fault> CudaQueue::finish() {
  const CUresult result = wait();
  if (fault_) return std::exchange(fault_, std::nullopt);
  if (result != CUDA_SUCCESS) return fault_of(driver_, result, "the kernel failed");
  return std::nullopt;
}

}  // namespace evo
