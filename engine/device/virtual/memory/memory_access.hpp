#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "engine/device/virtual/arithmetic/lane_survey.hpp"
#include "engine/device/virtual/execute/cta.hpp"
#include "engine/device/virtual/execute/warp.hpp"

namespace evo::ptx {

enum class AccessIntent : std::uint8_t { kRead, kWrite, kReadWrite };

/// For each lane of an access, the memory that it uses. Bounds, alignment and permission of the
/// access have been checked. In the arrays of this type, elements for inactive lanes are undefined.
struct LaneAccess {
  /// false: the access must not happen, because a fatal hazard was reported or because a slice
  /// (store_slice.hpp) ignores stores to shared memory
  bool ok = false;
  LanePattern pattern = LanePattern::kScattered;  ///< of addresses in global or shared memory
  std::uint32_t shared = 0;                       ///< lanes in the CTA's own shared memory
  std::uint32_t remote = 0;  ///< lanes in the shared memory of other CTAs of the cluster
  std::uint32_t global = 0;
  std::uint32_t local = 0;
  /// lanes that access global or local memory and may read uninitialised data
  std::uint32_t tracked = 0;
  /// The lane whose thread makes all accesses (a bulk copy by one thread); −1: each lane makes its
  /// own access.
  int issuer = -1;
  /// the buffer that all lanes access in global memory; null if lanes may access several buffers
  const GlobalBuffer* buffer = nullptr;
  std::array<std::uint64_t, kWarpSize> address;  ///< for shared and local memory: offsets in it
  std::array<std::byte*, kWarpSize> pointer;
  std::array<std::uint8_t*, kWarpSize> written;  ///< flags of the tracked lanes

  /// For each byte that the lane accesses, a flag: 1 if the byte was written. Returns null if the
  /// lane is not in `tracked`.
  [[nodiscard]] std::uint8_t* marks(std::size_t lane) const {
    return ((tracked >> lane) & 1U) != 0 ? written[lane] : nullptr;
  }
  /// True if a lane accesses shared memory.
  [[nodiscard]] bool in_shared() const { return (shared | remote) != 0; }
  /// The lane of the thread that makes the access of `lane`.
  [[nodiscard]] int thread_of(std::size_t lane) const {
    return issuer < 0 ? static_cast<int>(lane) : issuer;
  }
  /// True if no other host thread can write the memory: one host thread runs a CTA and owns its
  /// shared memory, and no kernel may write a read-only buffer.
  [[nodiscard]] bool is_still() const {
    return shared != 0 || (buffer != nullptr && !buffer->writable);
  }
};

/// The addresses that the lanes access: the base register's value plus the offset.
[[nodiscard]] std::array<std::uint64_t, kWarpSize> lane_addresses(const Warp& warp,
                                                                  const Address& from);

/// Like lane_addresses(), for accesses to shared memory. Converts generic addresses in the shared
/// window to offsets in shared memory.
[[nodiscard]] std::array<std::uint64_t, kWarpSize> shared_addresses(const Warp& warp,
                                                                    const Address& from);

/// Reports a hazard if addresses of lanes in `mask` depend on uninitialised data.
void report_tainted_address(Warp& warp, const Address& from, std::uint32_t mask);

/// Finds the memory for the addresses of the lanes in `mask` in the state space `space`, and checks
/// the access; each lane accesses `bytes` bytes. Addresses must be multiples of `alignment`, by
/// default of `bytes`.
[[nodiscard]] LaneAccess resolve(Warp& warp, Space space,
                                 const std::array<std::uint64_t, kWarpSize>& address,
                                 std::uint32_t mask, std::uint32_t bytes, AccessIntent intent,
                                 std::uint32_t alignment = 0);

/// Reports an access to shared memory to the race checker. note_shared_read() returns the lanes
/// that read uninitialised data. `values`: the bytes that the lanes write, `bytes` for each lane.
/// note_shared_write() reports no conflict between stores of equal values.
std::uint32_t note_shared_read(Warp& warp, const LaneAccess& access, std::uint32_t bytes,
                               AccessKind kind);
void note_shared_write(Warp& warp, const LaneAccess& access, std::uint32_t bytes, AccessKind kind,
                       const std::byte* values);
void note_shared_atomic(Warp& warp, const LaneAccess& access, std::uint32_t bytes);

/// A mask of the uninitialised bytes among the `bytes` bytes that a lane reads; bit b is for byte
/// b.
[[nodiscard]] std::uint32_t read_taint(const Warp& warp, const LaneAccess& access, int lane,
                                       std::uint32_t bytes);

/// Reports conflicts as hazards, once for each kind of hazard and pair of instructions.
void report_conflicts(Warp& warp, const RaceChecker::Result& result, const char* verb);

/// The functions acquire_from() and release_to() record that a strong access by `lane` orders the
/// lane after or before other threads that access the same memory by strong accesses.
/// `immediately`: whether the access itself has .acquire or .release; otherwise, only accesses
/// after the warp's next fence are ordered (acquire_from), or accesses before its last fence
/// (release_to).
void acquire_from(Warp& warp, int lane, std::uint64_t address, bool immediately);
void release_to(Warp& warp, int lane, std::uint64_t address, bool immediately);

}  // namespace evo::ptx
