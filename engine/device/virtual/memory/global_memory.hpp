#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace evo::ptx {

/// The windows of shared and local memory in the generic address space, and the start of global
/// memory. Each window has 2^32 bytes.
inline constexpr std::uint64_t kSharedWindow = 0x100'0000'0000ULL;
inline constexpr std::uint64_t kLocalWindow = 0x200'0000'0000ULL;
inline constexpr std::uint64_t kGlobalBase = 0x7000'0000'0000ULL;
/// Unmapped bytes between two buffers, so that an overrun never hits the next one.
inline constexpr std::uint64_t kBufferGap = 1ULL << 30;

/// A buffer of device memory that records, for each byte, whether it was written.
struct GlobalBuffer {
  std::string name;
  std::uint64_t base = 0;
  std::uint64_t bytes = 0;
  bool writable = true;
  bool is_kept = false;     ///< BufferSpec::is_kept
  bool is_private = false;  ///< no other kernel of the stream writes it
  std::unique_ptr<std::byte[]> data;
  std::unique_ptr<std::uint8_t[]> written;  ///< 1 for each written byte
  std::atomic<bool> all_written{false};
  std::atomic<void*> shadow{nullptr};  ///< used by GlobalRaces during a launch

  /// Marks the first `count` bytes as written by the host.
  void mark_written(std::uint64_t count);
  /// Marks all bytes as unwritten.
  void mark_unwritten();
  [[nodiscard]] bool contains(std::uint64_t address, std::uint64_t count) const {
    return address >= base && count <= bytes && address - base <= bytes - count;
  }
};

/// The device's global memory. Addresses are never reused, so that a stale pointer is detected.
class GlobalMemory {
 public:
  GlobalBuffer& allocate(std::string name, std::uint64_t bytes, bool writable,
                         std::uint64_t align = 256);
  void release(const GlobalBuffer& buffer);

  /// Throws DeviceMemoryError, naming `what`, if the device has no room for `bytes` more bytes
  /// beside its buffers and `others` bytes.
  void require_room(const std::string& what, std::uint64_t bytes, std::uint64_t others) const;

  /// The buffer that contains `address`, or null.
  [[nodiscard]] GlobalBuffer* find(std::uint64_t address) const;

  /// "12 bytes past the end of 'out' (4096 bytes)" for the buffer nearest to the address.
  [[nodiscard]] std::string describe(std::uint64_t address) const;

  [[nodiscard]] const std::vector<std::unique_ptr<GlobalBuffer>>& buffers() const {
    return buffers_;
  }

 private:
  std::vector<std::unique_ptr<GlobalBuffer>> buffers_;  ///< sorted by base
  std::uint64_t next_ = kGlobalBase;
};

}  // namespace evo::ptx
