#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/device/device_memory.hpp"

namespace evo::ptx {

/// The start addresses of shared and local memory in the generic address space, and of global
/// memory. Shared and local memory each have a window of 2^32 bytes in the generic address space.
inline constexpr std::uint64_t kSharedWindow = 0x100'0000'0000ULL;
inline constexpr std::uint64_t kLocalWindow = 0x200'0000'0000ULL;
inline constexpr std::uint64_t kGlobalBase = 0x7000'0000'0000ULL;
/// Size in bytes of the gap without memory between two buffers, so that an access past the end of a
/// buffer never reaches the next buffer.
inline constexpr std::uint64_t kBufferGap = 1ULL << 30;

/// A buffer of device memory that records, for each byte, whether it was written.
struct GlobalBuffer {
  std::string name;
  std::uint64_t base = 0;
  std::uint64_t bytes = 0;
  bool writable = true;
  bool is_kept = false;     ///< BufferSpec::is_kept, or a __device__ variable
  bool is_private = false;  ///< belongs to one kernel, and no other kernel writes it
  std::unique_ptr<std::byte[]> data;
  std::unique_ptr<std::uint8_t[]> written;  ///< 1 for each written byte
  std::atomic<bool> all_written{false};
  std::atomic<void*> shadow{nullptr};  ///< shadow words of GlobalRaces during a launch

  /// Marks `count` bytes from byte `first` on as written, because the host has written them.
  void mark_written(std::uint64_t count, std::uint64_t first = 0);
  /// Marks all bytes as not written.
  void mark_unwritten();
  /// Marks bytes as not written, because a kernel stored uninitialised data there. Bit b of `mask`
  /// is for byte `first` + b. Thread-safe for stores that do not race.
  void mark_uninitialised(std::uint64_t first, std::uint32_t mask);
  [[nodiscard]] bool contains(std::uint64_t address, std::uint64_t count) const {
    return address >= base && count <= bytes && address - base <= bytes - count;
  }
};

/// The global memory of a virtual GPU. Addresses are never reused, so that an access through a
/// pointer to a freed buffer is detected.
class GlobalMemory {
 public:
  GlobalBuffer& allocate(std::string name, std::uint64_t bytes, bool writable,
                         std::uint64_t align = 256);
  void release(const GlobalBuffer& buffer);

  /// Throws DeviceMemoryError, naming `what`, if device memory cannot hold `bytes` more bytes
  /// besides its buffers and `others` other bytes.
  void require_room(const std::string& what, std::uint64_t bytes, std::uint64_t others) const;
  [[nodiscard]] MemoryUse use() const;

  /// The buffer that contains `address`, or null.
  [[nodiscard]] GlobalBuffer* find(std::uint64_t address) const;

  /// An address relative to the nearest buffer, such as "12 bytes past the end of 'out' (4096
  /// bytes)".
  [[nodiscard]] std::string describe(std::uint64_t address) const;

  [[nodiscard]] const std::vector<std::unique_ptr<GlobalBuffer>>& buffers() const {
    return buffers_;
  }

 private:
  std::vector<std::unique_ptr<GlobalBuffer>> buffers_;  ///< sorted by base
  std::uint64_t next_ = kGlobalBase;
};

}  // namespace evo::ptx
