#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "engine/device/virtual/arithmetic/lane_survey.hpp"
#include "engine/device/virtual/execute/cta.hpp"
#include "engine/device/virtual/execute/warp.hpp"

namespace evo::ptx {

enum class AccessIntent : std::uint8_t { kRead, kWrite, kReadWrite, kAsyncSource };

/// The targets of an access's lanes after the checks of bounds, alignment and permission. Entries
/// of inactive lanes are undefined.
struct LaneAccess {
  bool ok = false;  ///< false: a fatal hazard was reported and the access must not happen
  LanePattern pattern = LanePattern::kScattered;  ///< the global or shared lanes
  std::uint32_t shared = 0;                       ///< lanes in shared memory
  std::uint32_t global = 0;
  std::uint32_t local = 0;
  /// global and local lanes that may read uninitialised data
  std::uint32_t tracked = 0;
  /// The lane on whose behalf all places are accessed; −1: each lane for itself.
  int issuer = -1;
  /// buffer of all global lanes; null if it was not determined
  const GlobalBuffer* buffer = nullptr;
  std::array<std::uint64_t, kWarpSize> address;  ///< window offset for shared and local
  std::array<std::byte*, kWarpSize> pointer;
  std::array<std::uint8_t*, kWarpSize> written;  ///< flags of the tracked lanes

  /// Whether each byte of the lane was written; null: all were.
  [[nodiscard]] std::uint8_t* marks(std::size_t lane) const {
    return ((tracked >> lane) & 1U) != 0 ? written[lane] : nullptr;
  }
  /// The lane of the thread that accesses the place of `lane`.
  [[nodiscard]] int thread_of(std::size_t lane) const {
    return issuer < 0 ? static_cast<int>(lane) : issuer;
  }
  /// No other thread can write meanwhile, because shared memory belongs to one host thread.
  [[nodiscard]] bool is_still() const {
    return shared != 0 || (buffer != nullptr && !buffer->writable);
  }
};

/// Addresses of the lanes: base register + offset.
[[nodiscard]] std::array<std::uint64_t, kWarpSize> lane_addresses(const Warp& warp,
                                                                  const Address& from);

/// Reports an address of `mask` lanes that depends on uninitialised data.
void report_tainted_address(Warp& warp, const Address& from, std::uint32_t mask);

/// Resolves `mask` lanes' addresses in `space` for an access of `bytes` bytes each.
[[nodiscard]] LaneAccess resolve(Warp& warp, Space space,
                                 const std::array<std::uint64_t, kWarpSize>& address,
                                 std::uint32_t mask, std::uint32_t bytes, AccessIntent intent);

/// Reports the access to the race checker; returns lanes that read uninitialised data. `values`:
/// for writes, the new bytes of each lane (`bytes` apart), to recognise harmless equal stores.
std::uint32_t note_shared_read(Warp& warp, const LaneAccess& access, std::uint32_t bytes,
                               AccessKind kind);
void note_shared_write(Warp& warp, const LaneAccess& access, std::uint32_t bytes, AccessKind kind,
                       const std::byte* values);
void note_shared_atomic(Warp& warp, const LaneAccess& access, std::uint32_t bytes);

/// Taint of the `bytes` bytes that a lane reads; bit b is byte b.
[[nodiscard]] std::uint32_t read_taint(const Warp& warp, const LaneAccess& access, int lane,
                                       std::uint32_t bytes);

/// Reports conflicts as hazards.
void report_conflicts(Warp& warp, const RaceChecker::Result& result, const char* verb);

/// Strong accesses and fences order warps through the memory they access.
void acquire_from(Warp& warp, std::uint64_t address, bool immediately);
void release_to(Warp& warp, std::uint64_t address, bool immediately);

}  // namespace evo::ptx
