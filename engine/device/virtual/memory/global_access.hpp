#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>

#include "engine/device/virtual/checks/global_races.hpp"
#include "engine/device/virtual/memory/memory_access.hpp"

// What accesses to global memory tell GlobalRaces. Nothing where the launch is not checked.

namespace evo::ptx {

/// The places in global memory that the lanes of an access touch, one lane after the other: what is
/// known of a place and its content change together, between enter() of the lane and that of the
/// next one. Everything else is about the lane that was entered last.
class WatchedPlaces {
 public:
  WatchedPlaces(Warp& warp, const LaneAccess& access, std::uint32_t bytes);

  /// False: there is nothing to note.
  [[nodiscard]] bool is_active() const { return is_active_; }
  /// The lane's places are this thread's alone until the next call or the end.
  void enter(std::size_t lane);

  /// A plain read.
  void read();
  /// A read by the path for read-only data.
  void read_only();
  /// A plain write of `values`, before it is done.
  void write(const std::byte* values);
  /// Lanes from `first` on whose plain write of `values`, those of lane 0 first, is noted at once,
  /// before it is done; their places are this thread's alone until the next call or the end. None
  /// where lanes must be entered one by one, and behind the last lane.
  [[nodiscard]] std::size_t write_piece(std::size_t first, const std::byte* values);
  /// A strong read.
  void see();
  /// A strong store of `values`, before it is done.
  void store(const std::byte* values);
  /// An atomic, after it was done. `changed`: it left another value than it found; `accumulates`:
  /// the result depends on what was there; `returns`: the kernel sees what was there.
  void atomic(bool changed, bool accumulates, bool returns);
  /// The same of an atomic that other CTAs need not see as one.
  void atomic_of_cta(bool changed);

 private:
  void explain_read(const GlobalRaces::Word& word);
  void report(GlobalRaces::Record other, std::size_t word, const char* verb);
  [[nodiscard]] bool is_same(std::size_t word, const std::byte* values) const;
  void hold(std::uint64_t address);
  /// The buffer of an address, when kernels may write it.
  [[nodiscard]] GlobalBuffer* writable_at(std::uint64_t address);
  [[nodiscard]] std::uint32_t plain_cta() const;
  void write_plain(const std::byte* values);

  Warp& warp_;
  const LaneAccess& access_;
  GlobalRaces& races_;
  std::uint32_t bytes_;
  std::uint32_t granule_;  ///< of a shadow word
  bool is_active_;
  GlobalBuffer* buffer_;  ///< of the lane before
  std::size_t lane_ = 0;
  std::span<GlobalRaces::Word> words_;  ///< empty where nobody watches
  PlainShadow* plain_ = nullptr;        ///< in the place of words, see GlobalRaces::is_plain()
  std::size_t place_ = 0;               ///< the lane's first place there
  GlobalRaces::Stripe* stripe_ = nullptr;
  std::unique_lock<SpinLock> lock_;
};

/// A plain read of the global lanes.
void note_global_read(Warp& warp, const LaneAccess& access, std::uint32_t bytes);

/// A load by the path for read-only data (ld.global.nc, __ldg) of the global lanes: a hazard where
/// any CTA, also this one, wrote in this launch, since that path may give what was there before
/// (PTX ISA, "ld.global.nc"). Only memory that is watched for races between CTAs is looked at.
void check_read_only_load(Warp& warp, const LaneAccess& access, std::uint32_t bytes);

/// The hazard of a read that is not ordered after a change.
[[nodiscard]] Hazard unordered_read(const LaunchContext& launch,
                                    const GlobalRaces::Unordered& unordered);

/// A fence of the GPU, or before a release: what is before it in the CTA is published.
void note_published(Warp& warp);

/// In a launch that only notes who stores where: notes the global lanes. Whether that was all.
[[nodiscard]] bool note_owner(const Warp& warp, const LaneAccess& access, std::uint32_t bytes);

/// In such a launch: ends it when a load reads what may hold something else when the kernel runs.
void require_still(Warp& warp, const LaneAccess& access);

}  // namespace evo::ptx
