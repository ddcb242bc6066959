#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>

#include "engine/device/virtual/checks/global_races.hpp"
#include "engine/device/virtual/memory/memory_access.hpp"

// Functions that report accesses to global memory to GlobalRaces, unless the launch is not checked.

namespace evo::ptx {

/// The places in global memory that the lanes of an access use, one lane at a time. enter() locks
/// the places of a lane until the next enter(), so that memory and its shadow change together. All
/// other members refer to the lane of the last enter().
class WatchedPlaces {
 public:
  WatchedPlaces(Warp& warp, const LaneAccess& access, std::uint32_t bytes);

  /// False if the access does not need to be recorded.
  [[nodiscard]] bool is_active() const { return is_active_; }
  /// Locks the lane's places for this host thread until the next call of enter() or the destructor.
  void enter(std::size_t lane);

  /// Records a plain read.
  void read();
  /// Records a read through the read-only data path.
  void read_only();
  /// Records a plain write of `values`; must be called before the write.
  void write(const std::byte* values);
  /// Records the plain writes of several lanes from `first` on at once, before the write, and
  /// returns their number. `values`: the new values of all lanes, lane 0 first. The lanes' places
  /// stay locked until the next call or the destructor. Returns 0 if lanes must be entered one by
  /// one, and after the last lane.
  [[nodiscard]] std::size_t write_piece(std::size_t first, const std::byte* values);
  /// Records a strong read.
  void see();
  /// Records a strong store of `values`; must be called before the store.
  void store(const std::byte* values);
  /// Records an atomic; must be called after the atomic. `changed`: the value changed;
  /// `accumulates`: the result depends on the previous value; `returns`: the kernel receives the
  /// previous value.
  void atomic(bool changed, bool accumulates, bool returns);
  /// Records an atomic of CTA scope, which need not be atomic for other CTAs.
  void atomic_of_cta(bool changed);

 private:
  void explain_read(const GlobalRaces::Word& word);
  void report(GlobalRaces::Record other, std::size_t word, const char* verb);
  [[nodiscard]] bool is_same(std::size_t word, const std::byte* values) const;
  void hold(std::uint64_t address);
  /// The buffer of an address; null if kernels may not write the buffer.
  [[nodiscard]] GlobalBuffer* writable_at(std::uint64_t address);
  [[nodiscard]] std::uint32_t plain_cta() const;
  void write_plain(const std::byte* values);

  Warp& warp_;
  const LaneAccess& access_;
  GlobalRaces& races_;
  std::uint32_t bytes_;
  std::uint32_t granule_;  ///< bytes of a shadow word
  bool is_active_;
  GlobalBuffer* buffer_;  ///< the buffer of the previous lane
  std::size_t lane_ = 0;
  std::span<GlobalRaces::Word> words_;  ///< empty if the buffer is not checked
  PlainShadow* plain_ = nullptr;        ///< replaces `words_` if GlobalRaces::is_plain()
  std::size_t place_ = 0;               ///< index of the lane's first place
  GlobalRaces::Stripe* stripe_ = nullptr;
  std::unique_lock<SpinLock> lock_;
};

/// Records a plain read by the lanes whose addresses are in global memory.
void note_global_read(Warp& warp, const LaneAccess& access, std::uint32_t bytes);

/// Records a load through the read-only data path (ld.global.nc, __ldg). Reports a hazard if a CTA,
/// including the warp's own, wrote the address in this launch, because the load may return the old
/// value (PTX ISA, "ld.global.nc"). Only memory that is checked for races between CTAs is examined.
void check_read_only_load(Warp& warp, const LaneAccess& access, std::uint32_t bytes);

/// The hazard for a read that is not ordered after a change.
[[nodiscard]] Hazard unordered_read(const LaunchContext& launch,
                                    const GlobalRaces::Unordered& unordered);

/// Records a fence of GPU scope, or the fence of a release, which publishes the previous accesses
/// of the CTA.
void note_published(Warp& warp);

/// In a launch of a slice, which only records the CTA of each store: records the lanes whose
/// addresses are in global memory. Returns false in other launches, or if lanes with other
/// addresses remain.
[[nodiscard]] bool note_owner(const Warp& warp, const LaneAccess& access, std::uint32_t bytes);

/// In a launch of a slice: ends the launch if a load reads memory whose content may differ when the
/// kernel runs.
void require_still(Warp& warp, const LaneAccess& access);

}  // namespace evo::ptx
