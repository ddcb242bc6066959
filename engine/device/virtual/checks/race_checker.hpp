#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "engine/device/virtual/arithmetic/lane_survey.hpp"
#include "engine/device/virtual/checks/hazard.hpp"
#include "engine/device/virtual/checks/warp_clocks.hpp"
#include "engine/device/virtual/execute/warp.hpp"

namespace evo::ptx {

/// The kind of an access to shared memory. A weak access (kPlain) may race with every other access;
/// a strong access (.volatile, .relaxed …) or an atomic may race only with weak accesses.
enum class AccessKind : std::uint8_t { kPlain, kStrong, kAtomic };

/// A conflicting pair of accesses: the current access and a recorded access.
struct Conflict {
  int lane = 0;               ///< lane of the current access
  std::uint32_t address = 0;  ///< shared byte address
  int other_warp = 0;         ///< from kMaxWarps on: completed copies that an mbarrier tracks
  int other_lane = 0;         ///< a span of lanes (joined_span()); from kWarpSize on: several lanes
  int other_pc = 0;
  bool other_is_write = false;
  bool other_is_async = false;
  bool same_warp = false;
  bool missing_proxy_fence = false;  ///< ordered, but not for the asynchronous proxy
  /// The accesses would be ordered if the lanes of each warp had synchronised: before the release
  /// in the other warp, or after the acquisition in the current warp.
  bool missing_lane_order = false;
  std::uint32_t other_time = 0;  ///< of the other access, in the clock of its warp
};

/// Finds races in shared memory by the happens-before relation. Shadow words for every granule hold
/// the last write by any warp and the last read of each warp, and WarpClocks says which of them are
/// ordered before an access. The reported races do not depend on the order in which warps run. A
/// RaceChecker also records which bytes were never written.
class RaceChecker {
 public:
  /// Clears all records, so that a new CTA can run. `granule`: bytes per shadow word (1, 2 or 4).
  void reset(std::uint32_t shared_bytes, int granule, int warps);

  [[nodiscard]] WarpClocks& clocks() { return clocks_; }

  struct Access {
    int warp;
    std::uint32_t pc;
    std::uint32_t mask;
    const std::uint64_t* address;  ///< addresses of the lanes, in bounds
    std::uint32_t bytes;
    AccessKind kind;
    LanePattern pattern = LanePattern::kScattered;
    /// The lane whose thread makes all accesses in `mask` (a bulk copy by one thread); −1: each
    /// lane makes its own access.
    int owner = -1;
  };
  struct Result {
    std::vector<Conflict> conflicts;
    std::uint32_t unwritten = 0;  ///< lanes that read uninitialised or tainted bytes
  };
  [[nodiscard]] Result read(const Access& access);
  [[nodiscard]] Result write(const Access& access);
  /// Checks and records an atomic, which both reads and writes.
  [[nodiscard]] Result atomic(const Access& access);

  /// Records that a cp.async, a bulk copy into shared memory or an st.async was issued, and returns
  /// conflicts. Until complete_async() (cp.async) or complete_copy(), no thread may access its
  /// destination.
  [[nodiscard]] Result begin_async(const Access& access);
  /// Records that a cp.async has completed, which counts as a write by the issuing threads.
  void complete_async(const Access& access);
  /// Records that bulk copies into shared memory, or an st.async, have completed. They count as one
  /// write at time `time` of the entry `copies` (at least kMaxWarps) of the vector clocks.
  void complete_copy(const Access& access, int copies, std::uint32_t time);

  /// Records the start of up to 32 reads by the asynchronous proxy, and returns conflicts. The
  /// kernel must have written the bytes that are read, with a proxy fence after writes by threads
  /// (bulk copies need none), and must not write them until complete_async_read().
  [[nodiscard]] Result begin_async_read(const Access& access);
  /// Records again that reads are in flight, because the completion of other reads of the same
  /// bytes has replaced their records.
  void mark_async_read(const Access& access);
  void complete_async_read(const Access& access);
  /// Records that a bulk copy out of this memory into shared memory of the cluster, which the warp
  /// issued at `time`, has read its source.
  [[gnu::cold]] void complete_copy_read(const Access& access, std::uint32_t time);
  /// Records a fence.proxy.async by `lanes`, which makes earlier accesses visible to the
  /// asynchronous proxy. `all_lanes`: whether all running threads of the warp execute the fence.
  void fence_proxy(int warp, std::uint32_t lanes, bool all_lanes);

  /// A recorded access to a granule; for the members, see Conflict.
  struct Recorded {
    int warp = 0;
    int lane = 0;
    int pc = 0;
    std::uint32_t time = 0;
    std::uint32_t address = 0;
    bool is_write = false;
    bool is_strong = false;
    bool is_async = false;  ///< still in flight
  };
  /// The recorded writes to `bytes` bytes at `address` and, if `with_reads`, the recorded reads.
  [[nodiscard, gnu::cold]] std::vector<Recorded> recorded(std::uint32_t address,
                                                          std::uint32_t bytes,
                                                          bool with_reads) const;
  /// Records that a bulk copy that another CTA issued to this memory is in flight.
  void begin_foreign_copy(const Access& access) { record_writes(access, kInFlight); }

  /// A mask whose bit b is set if byte `address` + b is uninitialised or tainted.
  [[nodiscard]] std::uint32_t taint_mask(std::uint32_t address, std::uint32_t bytes) const;
  /// Marks the bytes `address` + b for the bits b of `byte_mask` as uninitialised, because
  /// uninitialised data were written to them.
  void add_taint(std::uint32_t address, std::uint32_t byte_mask);

 private:
  static constexpr std::uint64_t kInFlight = 1ULL << 61;
  enum class Check : std::uint8_t { kRead, kWrite, kAsyncRead };
  template <Check kCheck>
  void check_writes(const Access& access, Result& result) const;
  void check_reads(const Access& access, Result& result) const;
  template <bool kCompletes>
  void record_reads(const Access& access);
  void record_writes(const Access& access, std::uint64_t flags);
  /// Sets `record` in the granules of an access.
  void put_record(std::vector<std::uint64_t>& granules, const Access& access,
                  std::uint64_t record) const;
  [[nodiscard]] bool is_fenced_by_lane(int warp, int lane, std::uint64_t record) const;
  void check_one(const Access& access, int lane, std::uint32_t granule, Check check,
                 Result& result) const;
  [[nodiscard]] std::uint32_t limit(int warp, int other, bool proxied) const;

  std::vector<std::uint64_t> writes_;              ///< last write of each granule
  std::vector<std::vector<std::uint64_t>> reads_;  ///< [warp][granule]: the warp's last read
  std::vector<std::uint32_t> latest_reads_;  ///< for each warp, an upper bound of its reads' times
  WarpClocks clocks_;
  /// [warp][lane]: the time of the lane's last fence.proxy.async
  std::vector<std::array<std::uint32_t, kWarpSize>> lane_fences_;
  int shift_ = 2;
  int warps_ = 0;
};

}  // namespace evo::ptx
