#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "engine/device/virtual/checks/releases.hpp"
#include "engine/device/virtual/checks/vector_clock.hpp"

namespace evo::ptx {

/// Records how one CTA synchronises with the other CTAs of a launch: the changes that it has seen
/// and published. Only the host thread that runs the CTA modifies the CtaHistory. Other threads
/// read releases and acquisitions in the history, which never change.
///
/// An access by warp v of CTA A at time t is ordered before an access by warp w of CTA B if B
/// acquired a chain, in w or before w by a barrier, that contains a release of A publishing time t
/// of v. The access of A is also ordered if the chain contains a release of a third CTA that had
/// previously acquired a chain with a release of A that publishes time t of v.
class CtaHistory {
 public:
  CtaHistory(std::uint64_t cta, int warps);

  /// Records that a warp saw the current state of `chain`.
  void acquire(int warp, const VectorClock& clock, const ReleaseChain& chain);
  /// The release that a change by `warp` would make now; null if the change publishes nothing.
  [[nodiscard]] const Release* release(int warp, const VectorClock& clock);
  /// Records a fence: a CTA that sees a later plain store of this CTA may see everything that this
  /// CTA has published so far.
  void fence(int warp, const VectorClock& clock);
  [[nodiscard]] const ReleaseChain& fences() const { return fences_; }

  /// True if the access by `other_warp` of CTA `other` at `time` is ordered before `warp`'s
  /// present.
  [[nodiscard]] bool knows(int warp, const VectorClock& clock, std::uint64_t other, int other_warp,
                           std::uint32_t time);

  /// Records that a warp read from `place` the value written by `change`. After kMostPlaces places,
  /// every place counts as read.
  void see(int warp, const VectorClock& clock, const void* place, std::uint64_t change);
  [[nodiscard]] bool has_seen(int warp, const VectorClock& clock, const void* place,
                              std::uint64_t change) const;

 private:
  static constexpr std::size_t kMostPlaces = 1024;
  using Chains =
      std::unordered_map<const ReleaseChain*, std::uint32_t>;  ///< chains with their lengths
  /// For another CTA: the times up to which its acquisitions are known here, and those already
  /// adopted.
  struct Reached {
    std::vector<std::uint32_t> known;
    std::uint32_t taken = 0;
  };
  /// The acquisitions and chains that are ordered before a warp's current time, as far as examined.
  struct Knowledge {
    /// acquisitions of this CTA that are not ordered before the warp's current time
    std::vector<const Acquisition*> waiting;
    std::uint32_t taken = 0;  ///< number of acquisitions examined
    Chains direct;            ///< chains that the warp's CTA acquired
    Chains all;               ///< also chains acquired by the releasing CTAs
    std::unordered_map<std::uint64_t, Reached> reached;
    std::unordered_map<std::uint64_t, std::vector<std::uint32_t>>
        published;  ///< releases of other CTAs
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
  std::deque<Acquisition> acquisitions_;
  std::deque<Release> releases_;
  ReleaseChain fences_;
  std::vector<Chains> acquired_;        ///< one element per warp
  std::vector<const Release*> latest_;  ///< latest release of each warp
  std::vector<Knowledge> knowledge_;    ///< one element per warp
  std::unordered_map<const void*, Seen> seen_;
};

}  // namespace evo::ptx
