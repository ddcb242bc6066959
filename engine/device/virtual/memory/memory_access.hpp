#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "engine/device/virtual/arithmetic/lane_survey.hpp"
#include "engine/device/virtual/execute/cta.hpp"
#include "engine/device/virtual/execute/warp.hpp"

namespace evo::ptx {

enum class AccessIntent : std::uint8_t { kRead, kWrite, kReadWrite, kAsyncSource };

/// The memory that each lane of an access uses, after the checks of bounds, alignment and
/// permission. Entries of inactive lanes are undefined.
struct LaneAccess {
  bool ok = false;  ///< false: a fatal hazard was reported, so the access must not happen
  LanePattern pattern = LanePattern::kScattered;  ///< of lanes in global or shared memory
  std::uint32_t shared = 0;                       ///< lanes in shared memory
  std::uint32_t global = 0;
  std::uint32_t local = 0;
  /// lanes in global or local memory that may read uninitialised data
  std::uint32_t tracked = 0;
  /// The lane whose thread accesses the places of all lanes; −1: each lane accesses its own place.
  int issuer = -1;
  /// the buffer of all lanes in global memory; null if unknown
  const GlobalBuffer* buffer = nullptr;
  std::array<std::uint64_t, kWarpSize> address;  ///< window offset for shared and local
  std::array<std::byte*, kWarpSize> pointer;
  std::array<std::uint8_t*, kWarpSize> written;  ///< flags of the tracked lanes

  /// Marks of the lane's bytes: 1 for a written byte. Null if all bytes were written.
  [[nodiscard]] std::uint8_t* marks(std::size_t lane) const {
    return ((tracked >> lane) & 1U) != 0 ? written[lane] : nullptr;
  }
  /// The lane of the thread that accesses the place of `lane`.
  [[nodiscard]] int thread_of(std::size_t lane) const {
    return issuer < 0 ? static_cast<int>(lane) : issuer;
  }
  /// True if no other host thread can write the memory: one thread owns a CTA's shared memory, and
  /// no kernel may write a read-only buffer.
  [[nodiscard]] bool is_still() const {
    return shared != 0 || (buffer != nullptr && !buffer->writable);
  }
};

/// The addresses of the lanes: base register + offset.
[[nodiscard]] std::array<std::uint64_t, kWarpSize> lane_addresses(const Warp& warp,
                                                                  const Address& from);

/// Reports addresses of the lanes in `mask` that depend on uninitialised data.
void report_tainted_address(Warp& warp, const Address& from, std::uint32_t mask);

/// Resolves the addresses of the lanes in `mask` in `space`; each lane accesses `bytes` bytes.
[[nodiscard]] LaneAccess resolve(Warp& warp, Space space,
                                 const std::array<std::uint64_t, kWarpSize>& address,
                                 std::uint32_t mask, std::uint32_t bytes, AccessIntent intent);

/// Reports the access to the race checker; returns the lanes that read uninitialised data.
/// `values`: for writes, the new bytes of each lane (`bytes` apart), because stores of equal values
/// are harmless.
std::uint32_t note_shared_read(Warp& warp, const LaneAccess& access, std::uint32_t bytes,
                               AccessKind kind);
void note_shared_write(Warp& warp, const LaneAccess& access, std::uint32_t bytes, AccessKind kind,
                       const std::byte* values);
void note_shared_atomic(Warp& warp, const LaneAccess& access, std::uint32_t bytes);

/// The taint of the `bytes` bytes that a lane reads; bit b is for byte b.
[[nodiscard]] std::uint32_t read_taint(const Warp& warp, const LaneAccess& access, int lane,
                                       std::uint32_t bytes);

/// Reports the conflicts that the race checker found as hazards.
void report_conflicts(Warp& warp, const RaceChecker::Result& result, const char* verb);

/// acquire_from() and release_to() record that strong accesses and fences order warps through the
/// accessed memory.
void acquire_from(Warp& warp, std::uint64_t address, bool immediately);
void release_to(Warp& warp, std::uint64_t address, bool immediately);

}  // namespace evo::ptx
