#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "engine/device/virtual/arithmetic/lane_survey.hpp"
#include "engine/device/virtual/execute/cta.hpp"
#include "engine/device/virtual/execute/warp.hpp"

namespace evo::ptx {

enum class AccessIntent : std::uint8_t { kRead, kWrite, kReadWrite, kAsyncSource };

/// Where the lanes of an access point, after bounds, alignment and permission were checked. What it
/// says of a lane that takes no part is nothing.
struct LaneAccess {
  bool ok = false;  ///< false: a fatal hazard was reported, nothing may be touched
  LanePattern pattern = LanePattern::kScattered;  ///< of global or shared lanes
  std::uint32_t shared = 0;                       ///< lanes in shared memory
  std::uint32_t global = 0;
  std::uint32_t local = 0;
  std::uint32_t tracked = 0;             ///< global and local lanes that may read what nobody wrote
  const GlobalBuffer* buffer = nullptr;  ///< of all global lanes; null where nobody looked
  std::array<std::uint64_t, kWarpSize> address;  ///< window offset for shared and local
  std::array<std::byte*, kWarpSize> pointer;
  std::array<std::uint8_t*, kWarpSize> written;  ///< of the tracked lanes

  /// Whether each byte of the lane was written; null: all were.
  [[nodiscard]] std::uint8_t* marks(std::size_t lane) const {
    return ((tracked >> lane) & 1U) != 0 ? written[lane] : nullptr;
  }
  /// Nobody can write there meanwhile: shared memory belongs to one thread of the host.
  [[nodiscard]] bool is_still() const {
    return shared != 0 || (buffer != nullptr && !buffer->writable);
  }
};

/// Addresses of the lanes: base register + offset.
[[nodiscard]] std::array<std::uint64_t, kWarpSize> lane_addresses(const Warp& warp,
                                                                  const Address& from);

/// Reports an address of `mask` lanes that depends on data nobody wrote.
void report_tainted_address(Warp& warp, const Address& from, std::uint32_t mask);

/// Resolves `mask` lanes' addresses in `space` for an access of `bytes` bytes each.
[[nodiscard]] LaneAccess resolve(Warp& warp, Space space,
                                 const std::array<std::uint64_t, kWarpSize>& address,
                                 std::uint32_t mask, std::uint32_t bytes, AccessIntent intent);

/// Tells the race checker; returns lanes that read what nobody wrote. `values`: for writes, the new
/// bytes of each lane (`bytes` apart), to tell harmless equal stores.
std::uint32_t note_shared_read(Warp& warp, const LaneAccess& access, std::uint32_t bytes,
                               AccessKind kind);
void note_shared_write(Warp& warp, const LaneAccess& access, std::uint32_t bytes, AccessKind kind,
                       const std::byte* values);
void note_shared_atomic(Warp& warp, const LaneAccess& access, std::uint32_t bytes);

/// Taint of `bytes` bytes that lane reads; bit b is byte b.
[[nodiscard]] std::uint32_t read_taint(const Warp& warp, const LaneAccess& access, int lane,
                                       std::uint32_t bytes);

/// Turns conflicts into reports.
void report_conflicts(Warp& warp, const RaceChecker::Result& result, const char* verb);

/// Strong accesses and fences order warps through the memory they touch.
void acquire_from(Warp& warp, std::uint64_t address, bool immediately);
void release_to(Warp& warp, std::uint64_t address, bool immediately);

}  // namespace evo::ptx
