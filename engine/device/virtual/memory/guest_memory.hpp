#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

// Accesses of the host to the memory of the virtual GPU. CTAs run on several host threads, and a
// kernel may have data races, by mistake or because it polls a flag. To avoid undefined behaviour
// on the host, accesses to memory that another host thread may write are relaxed atomics of at most
// 8 bytes, which take no longer than ordinary accesses. As on a GPU, an access of 16 or 32 bytes is
// not atomic as a whole. A fence of the kernel executes a fence of the host, which orders these
// accesses (see exec_fence()).

namespace evo::ptx {

/// Reads one value. `from` must be aligned to the size of T, or to 8 bytes if T is larger.
template <typename T>
[[nodiscard, gnu::always_inline]] inline T read_guest(const std::byte* from) {
  if constexpr (sizeof(T) <= sizeof(std::uint64_t)) {
    using GuestValue [[gnu::may_alias]] = T;
    return __atomic_load_n(reinterpret_cast<const GuestValue*>(from), __ATOMIC_RELAXED);
  } else {
    const auto low = read_guest<std::uint64_t>(from);
    const auto high = read_guest<std::uint64_t>(from + sizeof(low));
    return static_cast<T>(low) | static_cast<T>(high) << 64;
  }
}

template <typename T>
[[gnu::always_inline]] inline void write_guest(std::byte* to, T value) {
  using GuestValue [[gnu::may_alias]] = T;
  __atomic_store_n(reinterpret_cast<GuestValue*>(to), value, __ATOMIC_RELAXED);
}

/// Copies 1, 2, 4, 8, 16 or 32 bytes from device memory; the address must be a multiple of `bytes`.
inline void copy_from_guest(std::byte* to, const std::byte* from, std::uint32_t bytes) {
  const auto copy = [&]<typename T>(T) {
    for (std::uint32_t at = 0; at < bytes; at += sizeof(T)) {
      const T value = read_guest<T>(from + at);
      std::memcpy(to + at, &value, sizeof(T));
    }
  };
  if (bytes >= 8) return copy(std::uint64_t{});
  if (bytes == 4) return copy(std::uint32_t{});
  if (bytes == 2) return copy(std::uint16_t{});
  copy(std::uint8_t{});
}

/// Copies 1, 2, 4, 8, 16 or 32 bytes to device memory; the address must be a multiple of `bytes`.
inline void copy_to_guest(std::byte* to, const std::byte* from, std::uint32_t bytes) {
  const auto copy = [&]<typename T>(T value) {
    for (std::uint32_t at = 0; at < bytes; at += sizeof(T)) {
      std::memcpy(&value, from + at, sizeof(T));
      write_guest<T>(to + at, value);
    }
  };
  if (bytes >= 8) return copy(std::uint64_t{});
  if (bytes == 4) return copy(std::uint32_t{});
  if (bytes == 2) return copy(std::uint16_t{});
  copy(std::uint8_t{});
}

/// Marks `bytes` bytes as written in `marks`, which has one element for each byte of memory.
inline void mark_written(std::uint8_t* marks, std::uint32_t bytes) {
  auto* to = reinterpret_cast<std::byte*>(marks);
  if (bytes == 4) return write_guest<std::uint32_t>(to, 0x01010101U);
  if (bytes == 2) return write_guest<std::uint16_t>(to, std::uint16_t{0x0101});
  if (bytes == 1) return write_guest<std::uint8_t>(to, std::uint8_t{1});
  for (std::uint32_t at = 0; at < bytes; at += 8)
    write_guest<std::uint64_t>(to + at, 0x0101010101010101ULL);
}

[[nodiscard]] inline bool is_written(const std::uint8_t* mark) {
  return __atomic_load_n(mark, __ATOMIC_RELAXED) != 0;
}

}  // namespace evo::ptx
