#include "engine/device/cuda/cuda_memory.hpp"

#include "engine/core/error.hpp"

namespace evo {

CUdeviceptr CudaMemory::take(std::size_t bytes, const std::string& name) {
  auto& unused = unused_[bytes];
  if (!unused.empty()) {
    const CUdeviceptr memory = unused.back();
    unused.pop_back();
    unused_bytes_ -= bytes;
    return memory;
  }
  CUdeviceptr memory = 0;
  CUresult result = driver_.cuMemAlloc(&memory, bytes);
  if (result == CUDA_ERROR_OUT_OF_MEMORY) {
    free_unused();
    result = driver_.cuMemAlloc(&memory, bytes);
  }
  const std::string what =
      "allocating buffer '" + name + "' (" + std::to_string(bytes) + " bytes with its guard zones)";
  if (result == CUDA_ERROR_OUT_OF_MEMORY) {
    throw DeviceMemoryError(what + " failed: " + driver_.describe(result));
  }
  driver_.require(result, what.c_str());
  return memory;
}

void CudaMemory::free_unused() {
  for (const auto& [bytes, list] : unused_) {
    for (const CUdeviceptr memory : list) driver_.require(driver_.cuMemFree(memory), "cuMemFree");
  }
  unused_.clear();
  unused_bytes_ = 0;
}

void CudaMemory::give_back(CUdeviceptr memory, std::size_t bytes) {
  constexpr std::size_t kMostUnused = std::size_t{4} << 30;
  if (unused_bytes_ + bytes > kMostUnused) {
    driver_.require(driver_.cuMemFree(memory), "cuMemFree");
    return;
  }
  unused_[bytes].push_back(memory);
  unused_bytes_ += bytes;
}

}  // namespace evo
