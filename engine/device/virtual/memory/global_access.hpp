#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>

#include "engine/device/virtual/checks/global_races.hpp"
#include "engine/device/virtual/memory/memory_access.hpp"

// Reports accesses to global memory to GlobalRaces. Does nothing if the launch is not checked.

namespace evo::ptx {

/// The places in global memory that the lanes of an access touch, one lane at a time. A place and
/// its record are locked from enter() of a lane until the next one, so that they change together.
/// All other functions refer to the lane entered last.
class WatchedPlaces {
 public:
  WatchedPlaces(Warp& warp, const LaneAccess& access, std::uint32_t bytes);

  /// False: there is nothing to record.
  [[nodiscard]] bool is_active() const { return is_active_; }
  /// Locks the lane's places for this thread until the next call or the end.
  void enter(std::size_t lane);

  /// A plain read.
  void read();
  /// A read through the read-only data path.
  void read_only();
  /// A plain write of `values`, called before the write.
  void write(const std::byte* values);
  /// The number of lanes from `first` on whose plain writes of `values` (lane 0 first) are recorded
  /// at once, before the write; their places stay locked until the next call or the end. 0 if lanes
  /// must be entered one by one, and after the last lane.
  [[nodiscard]] std::size_t write_piece(std::size_t first, const std::byte* values);
  /// A strong read.
  void see();
  /// A strong store of `values`, called before the store.
  void store(const std::byte* values);
  /// An atomic, called after it. `changed`: the value changed; `accumulates`: the result depends on
  /// the previous value; `returns`: the kernel sees the previous value.
  void atomic(bool changed, bool accumulates, bool returns);
  /// The same for an atomic that need not be atomic for other CTAs.
  void atomic_of_cta(bool changed);

 private:
  void explain_read(const GlobalRaces::Word& word);
  void report(GlobalRaces::Record other, std::size_t word, const char* verb);
  [[nodiscard]] bool is_same(std::size_t word, const std::byte* values) const;
  void hold(std::uint64_t address);
  /// The buffer of an address if kernels may write it.
  [[nodiscard]] GlobalBuffer* writable_at(std::uint64_t address);
  [[nodiscard]] std::uint32_t plain_cta() const;
  void write_plain(const std::byte* values);

  Warp& warp_;
  const LaneAccess& access_;
  GlobalRaces& races_;
  std::uint32_t bytes_;
  std::uint32_t granule_;  ///< bytes of a shadow word
  bool is_active_;
  GlobalBuffer* buffer_;  ///< that of the previous lane
  std::size_t lane_ = 0;
  std::span<GlobalRaces::Word> words_;  ///< empty if it is not checked
  PlainShadow* plain_ = nullptr;        ///< in place of words, see GlobalRaces::is_plain()
  std::size_t place_ = 0;               ///< index of the lane's first place
  GlobalRaces::Stripe* stripe_ = nullptr;
  std::unique_lock<SpinLock> lock_;
};

/// Records a plain read of the global lanes.
void note_global_read(Warp& warp, const LaneAccess& access, std::uint32_t bytes);

/// Records a load through the read-only data path (ld.global.nc, __ldg) of the global lanes. It is
/// a hazard if any CTA, including this one, wrote there in this launch, because that path may
/// return the old value (PTX ISA, "ld.global.nc"). Only memory that is checked for races between
/// CTAs is examined.
void check_read_only_load(Warp& warp, const LaneAccess& access, std::uint32_t bytes);

/// The hazard of a read that is not ordered after a change.
[[nodiscard]] Hazard unordered_read(const LaunchContext& launch,
                                    const GlobalRaces::Unordered& unordered);

/// A fence of GPU scope, or before a release: publishes the previous accesses of the CTA.
void note_published(Warp& warp);

/// In a launch that only records who stores where: records the global lanes. Returns whether that
/// was all.
[[nodiscard]] bool note_owner(const Warp& warp, const LaneAccess& access, std::uint32_t bytes);

/// In such a launch: ends it if a load reads memory that may have another content when the kernel
/// runs.
void require_still(Warp& warp, const LaneAccess& access);

}  // namespace evo::ptx
