#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "engine/device/virtual/arithmetic/lane_survey.hpp"
#include "engine/device/virtual/checks/hazard.hpp"
#include "engine/device/virtual/checks/lane_order.hpp"
#include "engine/device/virtual/checks/vector_clock.hpp"
#include "engine/device/virtual/execute/warp.hpp"

namespace evo::ptx {

/// How an access takes part in races: plain accesses race with all; strong ones (.volatile,
/// .relaxed …) and atomics race only with plain ones.
enum class AccessKind : std::uint8_t { kPlain, kStrong, kAtomic };

/// A conflicting pair of accesses: the current one and the recorded one.
struct Conflict {
  int lane = 0;               ///< lane of the current access
  std::uint32_t address = 0;  ///< shared byte address
  int other_warp = 0;  ///< from kMaxWarps on: a bulk copy into shared memory that has arrived
  int other_lane = 0;  ///< kWarpSize: several lanes
  int other_pc = 0;
  bool other_is_write = false;
  bool other_is_async = false;
  bool same_warp = false;
  bool missing_proxy_fence = false;  ///< ordered, but not for the asynchronous proxy
};

/// Finds races in shared memory by happens-before: a shadow word for every granule holds the last
/// write and the last read by each warp; every warp has a vector clock, which barriers join.
/// Threads of one warp are ordered only by .sync instructions, and only if they meet there.
/// Reported races do not depend on the schedule. Also tracks bytes that were never written.
class RaceChecker {
 public:
  /// Resets the state for a new CTA. `granule`: bytes per shadow word (1, 2 or 4).
  void reset(std::uint32_t shared_bytes, int granule, int warps);

  [[nodiscard]] VectorClock& clock(int warp) { return clocks_[static_cast<std::size_t>(warp)]; }
  [[nodiscard]] const LaneOrder& order(int warp) const {
    return orders_[static_cast<std::size_t>(warp)];
  }
  /// Orders everything the warp did so far before its next accesses.
  void advance(int warp) { orders_[static_cast<std::size_t>(warp)].met(tick(warp)); }
  /// Orders everything `lanes` of the warp did so far before their next accesses.
  void advance(int warp, std::uint32_t lanes) {
    orders_[static_cast<std::size_t>(warp)].met(lanes, tick(warp));
  }
  void join(int warp, const VectorClock& other);

  struct Access {
    int warp;
    std::uint32_t pc;
    std::uint32_t mask;
    const std::uint64_t* address;  ///< addresses of the lanes, in bounds
    std::uint32_t bytes;
    AccessKind kind;
    LanePattern pattern = LanePattern::kScattered;
    /// The lane on whose behalf all places of `mask` are accessed; −1: each lane for itself.
    int owner = -1;
  };
  struct Result {
    std::vector<Conflict> conflicts;
    std::uint32_t unwritten = 0;  ///< lanes that read uninitialised or tainted bytes
  };
  [[nodiscard]] Result read(const Access& access);
  [[nodiscard]] Result write(const Access& access);
  /// A read and a write in one.
  [[nodiscard]] Result atomic(const Access& access);

  /// A cp.async was issued: until complete() no thread may access the destination.
  [[nodiscard]] Result begin_async(const Access& access);
  /// The data have arrived for these lanes, and count as a write of the issuing thread.
  void complete_async(const Access& access);
  /// The data of bulk copies have arrived: a write at `time` of the clock `copies`, at least
  /// kMaxWarps.
  void complete_copy(const Access& access, int copies, std::uint32_t time);

  /// Up to 32 reads by the asynchronous proxy begin. The bytes must have been written before, with
  /// a proxy fence in between; until complete_async_read() no thread may write there.
  [[nodiscard]] Result begin_async_read(const Access& access);
  /// The reads of `access` are in flight (recorded again after other reads of the same place
  /// completed).
  void mark_async_read(const Access& access);
  void complete_async_read(const Access& access);
  /// fence.proxy.async by `lanes`: accesses before the present moment of the warp become visible to
  /// the asynchronous proxy. `all_lanes`: these are all running threads of the warp.
  void fence_proxy(int warp, std::uint32_t lanes, bool all_lanes);
  /// A fence of GPU scope publishes the accesses before the present moment of the warp.
  void publish(int warp);

  /// Bit b: byte b of [address, address + bytes) is uninitialised or tainted.
  [[nodiscard]] std::uint32_t taint_mask(std::uint32_t address, std::uint32_t bytes) const;
  /// After a write: the content of these bytes (bit b: address + b) is still unknown.
  void add_taint(std::uint32_t address, std::uint32_t byte_mask);

 private:
  enum class Check : std::uint8_t { kRead, kWrite, kAsyncRead };
  template <Check kCheck>
  void check_writes(const Access& access, Result& result) const;
  void check_reads(const Access& access, Result& result) const;
  template <bool kCompletes>
  void record_reads(const Access& access);
  void record_writes(const Access& access, std::uint64_t flags);
  [[nodiscard]] bool is_fenced_by_lane(int warp, int lane, std::uint64_t record) const;
  void check_one(const Access& access, int lane, std::uint32_t granule, Check check,
                 Result& result) const;
  [[nodiscard]] std::uint32_t limit(int warp, int other, bool proxied) const;
  /// The warp's next time.
  std::uint32_t tick(int warp) {
    return ++clocks_[static_cast<std::size_t>(warp)][static_cast<std::size_t>(warp)];
  }

  std::vector<std::uint64_t> writes_;              ///< last write of each granule
  std::vector<std::vector<std::uint64_t>> reads_;  ///< [warp][granule]: its last read
  std::vector<std::uint32_t> latest_reads_;        ///< for each warp: no read of it came later
  std::vector<VectorClock> clocks_;
  std::vector<LaneOrder> orders_;  ///< order among the lanes of each warp
  /// [warp][lane]: time of its last fence.proxy.async
  std::vector<std::array<std::uint32_t, kWarpSize>> lane_fences_;
  int shift_ = 2;
  int warps_ = 0;
};

}  // namespace evo::ptx
