#include "engine/device/cuda/cuda_memory.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "engine/core/error.hpp"

namespace evo {

CUresult queue_fill(const CudaDriver& driver, CUdeviceptr data, std::size_t bytes,
                    std::span<const std::byte> pattern, CUstream stream) {
  if (bytes == 0) return CUDA_SUCCESS;
  std::uint32_t word = 0;
  std::memcpy(&word, pattern.data(), std::min(pattern.size(), sizeof word));
  if (pattern.size() == 1)
    return driver.cuMemsetD8Async(data, static_cast<unsigned char>(word), bytes, stream);
  if (pattern.size() == 2)
    return driver.cuMemsetD16Async(data, static_cast<unsigned short>(word), bytes / 2, stream);
  if (pattern.size() == 4) return driver.cuMemsetD32Async(data, word, bytes / 4, stream);
  // For 8-byte patterns: sets both halves of the first element, then copies the filled part to the
  // bytes that follow it, which doubles the filled part each time.
  std::uint32_t high = 0;
  std::memcpy(&high, pattern.data() + sizeof word, sizeof high);
  CUresult result = driver.cuMemsetD32Async(data, word, 1, stream);
  if (result == CUDA_SUCCESS) result = driver.cuMemsetD32Async(data + sizeof word, high, 1, stream);
  std::size_t done = pattern.size();
  for (std::size_t more = 0; done < bytes && result == CUDA_SUCCESS; done += more) {
    more = std::min(done, bytes - done);
    result = driver.cuMemcpyDtoDAsync(data + done, data, more, stream);
  }
  return result;
}

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
