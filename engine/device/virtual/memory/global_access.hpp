#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>

#include "engine/device/virtual/checks/global_races.hpp"
#include "engine/device/virtual/memory/memory_access.hpp"

// Functions that report accesses to global memory to GlobalRaces, unless the checks are off.

namespace evo::ptx {

/// The global memory that one access of a warp uses, one lane at a time. enter() locks the memory
/// of a lane until the next enter(), so that memory and its shadow words change together. The
/// functions that record an access refer to the lane of the last enter().
class WatchedPlaces {
 public:
  WatchedPlaces(Warp& warp, const LaneAccess& access, std::uint32_t bytes);

  /// False if the access is not recorded, because it cannot race or the checks are off.
  [[nodiscard]] bool is_active() const { return is_active_; }
  /// Locks, for this host thread, the memory that the lane accesses, until the next call of enter()
  /// or the destructor.
  void enter(std::size_t lane);

  /// Records a weak read.
  void read();
  /// Records a read through the read-only data path (ld.global.nc).
  void read_only();
  /// Records a weak write of `values`; must be called before memory is written.
  void write(const std::byte* values);
  /// Records the weak writes of several lanes at once, from lane `first` on, and returns the number
  /// of these lanes; must be called before memory is written. `values`: the new values of all
  /// lanes, lane 0 first. The memory of the recorded lanes stays locked until the next call or the
  /// destructor. Returns 0 if each lane needs its own enter() and write(), or if `first` is behind
  /// the last lane.
  [[nodiscard]] std::size_t write_piece(std::size_t first, const std::byte* values);
  /// The value, if any, that a strong read returns instead of the current value (see
  /// GlobalRaces::old_value()); null for most reads, also at random. The value stays valid until
  /// the next enter(). A read that returns it must not call see().
  [[nodiscard]] const std::byte* old_value();
  /// Records a strong read.
  void see();
  /// Records a strong store of `values`; must be called before memory is written.
  void store(const std::byte* values);
  /// Records an atomic; must be called after memory was written. `changed`: whether the value in
  /// memory changed; `accumulates`: whether the new value depends on the previous value; `returns`:
  /// whether the kernel receives the previous value.
  void atomic(bool changed, bool accumulates, bool returns);
  /// Records an atomic of CTA scope, which is not atomic for other CTAs.
  void atomic_of_cta(bool changed);

 private:
  void explain_read(const GlobalRaces::Word& word);
  void report(GlobalRaces::Record other, std::size_t word, const char* verb);
  [[nodiscard]] bool is_same(std::size_t word, const std::byte* values) const;
  void hold(std::uint64_t address);
  [[nodiscard]] std::optional<GlobalRaces::Replaced> replaced() const;
  /// The buffer that contains an address; null if kernels may not write the buffer.
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
  std::size_t place_ = 0;               ///< index of the lane's first shadow word in the buffer
  GlobalRaces::Stripe* stripe_ = nullptr;
  std::unique_lock<SpinLock> lock_;
};

/// Records a weak read by those lanes of an access whose addresses are in global memory.
void note_global_read(Warp& warp, const LaneAccess& access, std::uint32_t bytes);

/// Checks a load through the read-only data path (ld.global.nc, __ldg). Reports a hazard if a CTA,
/// including the warp's own, has written the address in this launch, because the load may return
/// the old value (PTX ISA, "ld.global.nc"). Finds only writes that GlobalRaces recorded.
void check_read_only_load(Warp& warp, const LaneAccess& access, std::uint32_t bytes);

/// The hazard for a weak read that is not ordered after a strong write by another CTA.
[[nodiscard]] Hazard unordered_read(const LaunchContext& launch,
                                    const GlobalRaces::Unordered& unordered);

/// Records a fence of GPU or system scope, or the fence that is part of a release. The fence
/// publishes the previous accesses of the CTA to other CTAs.
void note_published(Warp& warp);

/// If the launch executes a slice (store_slice.hpp): records that the CTA stores to the addresses
/// of those lanes that access global memory. Returns true if the store must not be executed.
/// Returns false if the launch executes no slice, if no lane accesses global memory, or if a lane
/// accesses local memory, which a slice may read later.
[[nodiscard]] bool note_owner(const Warp& warp, const LaneAccess& access, std::uint32_t bytes);

/// If the launch executes a slice (store_slice.hpp): ends the launch if a load reads shared memory
/// or global memory that kernels may write, because the slice does not execute the kernel's stores
/// to this memory.
void require_still(Warp& warp, const LaneAccess& access);

}  // namespace evo::ptx
