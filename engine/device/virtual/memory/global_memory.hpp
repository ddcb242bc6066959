#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace evo::ptx {

/// Where the windows of shared and local memory lie in the generic address space, and where global
/// memory begins. Each window is 2^32 bytes.
inline constexpr std::uint64_t kSharedWindow = 0x100'0000'0000ULL;
inline constexpr std::uint64_t kLocalWindow = 0x200'0000'0000ULL;
inline constexpr std::uint64_t kGlobalBase = 0x7000'0000'0000ULL;
/// Unmapped bytes kept between two buffers, so that an overrun never lands in the next one.
inline constexpr std::uint64_t kBufferGap = 1ULL << 30;

/// A buffer of device memory with, for each byte, whether anyone wrote it.
struct GlobalBuffer {
  std::string name;
  std::uint64_t base = 0;
  std::uint64_t bytes = 0;
  bool writable = true;
  bool is_kept = false;  ///< BufferSpec::is_kept
  std::unique_ptr<std::byte[]> data;
  std::unique_ptr<std::uint8_t[]> written;  ///< 1 for each byte that was
  std::atomic<bool> all_written{false};
  std::atomic<void*> shadow{nullptr};  ///< of GlobalRaces, during a launch

  /// Notes that the host wrote the first `count` bytes.
  void mark_written(std::uint64_t count);
  /// Notes that nobody wrote any of it.
  void mark_unwritten();
  [[nodiscard]] bool contains(std::uint64_t address, std::uint64_t count) const {
    return address >= base && count <= bytes && address - base <= bytes - count;
  }
};

/// The device's global memory. Addresses are never reused, so that a stale pointer is caught.
class GlobalMemory {
 public:
  GlobalBuffer& allocate(std::string name, std::uint64_t bytes, bool writable,
                         std::uint64_t align = 256);
  void release(const GlobalBuffer& buffer);

  /// Throws DeviceMemoryError, naming `what`, when the device has no room for `bytes` more beside
  /// its buffers and `others` bytes.
  void require_room(const std::string& what, std::uint64_t bytes, std::uint64_t others) const;

  /// The buffer that holds `address`, or nullptr.
  [[nodiscard]] GlobalBuffer* find(std::uint64_t address) const;

  /// "12 bytes past the end of 'out' (4096 bytes)" for the buffer nearest to the address.
  [[nodiscard]] std::string describe(std::uint64_t address) const;

  [[nodiscard]] const std::vector<std::unique_ptr<GlobalBuffer>>& buffers() const {
    return buffers_;
  }

 private:
  std::vector<std::unique_ptr<GlobalBuffer>> buffers_;  ///< ascending bases
  std::uint64_t next_ = kGlobalBase;
};

}  // namespace evo::ptx
