#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "engine/device/virtual/checks/releases.hpp"
#include "engine/device/virtual/checks/vector_clock.hpp"

namespace evo::ptx {

/// Records how one CTA synchronises with the other CTAs of a launch: the strong writes of other
/// CTAs that this CTA has read, and its own releases. Only the host thread that runs the CTA
/// modifies this object. Other host threads read only fences() and the CTA's releases and
/// acquisitions, which never change once they are recorded.
///
/// An access of CTA A (warp v, time t) is ordered before an access of CTA B (warp w) if w, or a
/// warp that a barrier orders before w, acquired a ReleaseChain that contains a release of A, and
/// this release publishes time t of v. The access of A is also ordered before the access of B if
/// the chain contains a release of a third CTA that had previously acquired a chain with a release
/// of A that publishes time t of v.
class CtaHistory {
 public:
  /// `records_unfenced`: whether release() also returns releases that publish nothing.
  CtaHistory(std::uint64_t cta, int warps, bool records_unfenced = false);

  /// Records that a warp read the current value at the location of `chain`, and thereby acquired
  /// all releases of the chain.
  void acquire(int warp, const VectorClock& clock, const ReleaseChain& chain) {
    acquire(warp, clock, chain, chain.length());
  }
  /// Records that a warp acquired the first `length` releases of the chain.
  void acquire(int warp, const VectorClock& clock, const ReleaseChain& chain, std::uint32_t length);
  /// The release that a strong write by `warp` would make now; null if the write would publish no
  /// accesses and no acquisitions.
  [[nodiscard]] const Release* release(int warp, const VectorClock& clock);
  /// Records a fence by `warp`. If another CTA reads the value of a weak store that follows a
  /// fence, the accesses before this fence are assumed to be ordered before the read.
  void fence(int warp, const VectorClock& clock);
  [[nodiscard]] const ReleaseChain& fences() const { return fences_; }

  /// True if the access that `other_warp` of CTA `other` made at `time` is ordered before the
  /// current time of `warp`.
  [[nodiscard]] bool knows(int warp, const VectorClock& clock, std::uint64_t other, int other_warp,
                           std::uint32_t time);

  /// True if `warp` has read a strong write by CTA `other` that follows the access that
  /// `other_warp` of CTA `other` made at `time`, with or without a fence between them.
  [[nodiscard]] bool follows(int warp, const VectorClock& clock, std::uint64_t other,
                             int other_warp, std::uint32_t time);

  /// Records that a warp read the value that another CTA wrote. `change` is the record of this
  /// write, and `place` is the address of this record in the shadow word (GlobalRaces::Word). After
  /// kMostPlaces addresses, has_seen() returns true for every further address.
  void see(int warp, const VectorClock& clock, const void* place, std::uint64_t change);
  /// True if see() recorded `change` at `place` for a read that is ordered before the current time
  /// of `warp`.
  [[nodiscard]] bool has_seen(int warp, const VectorClock& clock, const void* place,
                              std::uint64_t change) const;

  /// Number of recorded acquisitions and releases.
  [[nodiscard]] std::uint64_t size() const { return acquisitions_.size() + releases_.size(); }

 private:
  static constexpr std::size_t kMostPlaces = 1024;
  using Chains =
      std::unordered_map<const ReleaseChain*, std::uint32_t>;  ///< by chain: number of releases
  /// For another CTA: the time of each of its warps up to which this CTA knows the warp's
  /// acquisitions, and the number of acquisitions that this CTA has adopted.
  struct Reached {
    std::vector<std::uint32_t> known;
    std::uint32_t taken = 0;
  };
  /// The acquisitions and release chains that are ordered before a warp's current time, as far as
  /// they have been examined.
  struct Knowledge {
    /// acquisitions of this CTA that are not ordered before the warp's current time
    std::vector<const Acquisition*> waiting;
    std::uint32_t taken = 0;  ///< number of acquisitions examined
    Chains direct;            ///< chains that the warp's CTA acquired
    Chains all;               ///< also chains acquired by the releasing CTAs
    std::unordered_map<std::uint64_t, Reached> reached;
    std::unordered_map<std::uint64_t, std::vector<std::uint32_t>>
        published;  ///< by CTA and warp: the time up to which acquired releases publish accesses
  };
  struct Seen {
    std::uint64_t change = 0;
    int warp = 0;
    std::uint32_t time = 0;
  };

  void take_acquisitions(Knowledge& knowledge, int warp, const VectorClock& clock) const;
  static void extend(Knowledge& knowledge);

  std::uint64_t cta_;
  std::size_t warps_;
  bool records_unfenced_;
  std::deque<Acquisition> acquisitions_;
  std::deque<Release> releases_;
  ReleaseChain fences_;
  std::vector<Chains> acquired_;        ///< by warp: the chains that it acquired
  std::vector<const Release*> latest_;  ///< latest release of each warp
  std::vector<Knowledge> knowledge_;    ///< by warp
  std::unordered_map<const void*, Seen> seen_;
};

}  // namespace evo::ptx
