#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "engine/device/cuda/driver.hpp"

namespace evo {

/// Queues an operation that fills `bytes` bytes from `data` on with `pattern` (1, 2, 4 or 8 bytes,
/// repeated). `bytes` must be a multiple of the pattern's size.
[[nodiscard]] CUresult queue_fill(const CudaDriver& driver, CUdeviceptr data, std::size_t bytes,
                                  std::span<const std::byte> pattern, CUstream stream);

/// Allocates device memory. The class keeps up to 4 GiB of freed memory for later buffers of the
/// same size, because the driver synchronises with the device when it allocates memory.
class CudaMemory {
 public:
  /// `driver` must outlive this object; its context must be current.
  explicit CudaMemory(const CudaDriver& driver) : driver_(driver) {}

  /// Allocates `bytes` for buffer `name`, with arbitrary content. Throws DeviceMemoryError if there
  /// is too little memory.
  [[nodiscard]] CUdeviceptr take(std::size_t bytes, const std::string& name);
  void give_back(CUdeviceptr memory, std::size_t bytes);

 private:
  void free_unused();

  const CudaDriver& driver_;
  std::map<std::size_t, std::vector<CUdeviceptr>> unused_;  ///< by size
  std::size_t unused_bytes_ = 0;
};

}  // namespace evo
