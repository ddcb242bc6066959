#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "engine/device/virtual/checks/releases.hpp"
#include "engine/device/virtual/checks/vector_clock.hpp"

namespace evo::ptx {

/// Records the synchronisation of one CTA with others in a launch: which changes it has seen and
/// published. It belongs to the host thread that runs the CTA. Other threads read its releases and
/// acquisitions, which never change.
///
/// An access by warp v of CTA A at time t is ordered before an access by warp w of CTA B if B
/// acquired a chain, in w or before w by a barrier, that contains a release of A publishing time t
/// of v. It is also ordered if the chain contains a release of a third CTA that had acquired such a
/// chain before.
class CtaHistory {
 public:
  CtaHistory(std::uint64_t cta, int warps);

  /// Records that a warp saw the current state of the chain.
  void acquire(int warp, const VectorClock& clock, const ReleaseChain& chain);
  /// The release that a change by this warp makes now; null if it publishes nothing.
  [[nodiscard]] const Release* release(int warp, const VectorClock& clock);
  /// Records a fence: another CTA that sees a later plain store of this CTA may see everything
  /// published so far.
  void fence(int warp, const VectorClock& clock);
  [[nodiscard]] const ReleaseChain& fences() const { return fences_; }

  /// Whether the access of `other_warp` of `other` at `time` is ordered before the present moment
  /// of `warp`.
  [[nodiscard]] bool knows(int warp, const VectorClock& clock, std::uint64_t other, int other_warp,
                           std::uint32_t time);

  /// Records that a warp read from `place` the value written by `change`. If there are more than
  /// kMostPlaces places, all count as read.
  void see(int warp, const VectorClock& clock, const void* place, std::uint64_t change);
  [[nodiscard]] bool has_seen(int warp, const VectorClock& clock, const void* place,
                              std::uint64_t change) const;

 private:
  static constexpr std::size_t kMostPlaces = 1024;
  using Chains =
      std::unordered_map<const ReleaseChain*, std::uint32_t>;  ///< chains with their lengths
  /// About another CTA: until when its acquisitions count, and which of them have been adopted.
  struct Reached {
    std::vector<std::uint32_t> known;
    std::uint32_t taken = 0;
  };
  /// Results known about a warp so far.
  struct Knowledge {
    /// acquisitions of this CTA that are not yet ordered before the warp
    std::vector<const Acquisition*> waiting;
    std::uint32_t taken = 0;  ///< number of acquisitions examined
    Chains direct;            ///< chains that its CTA acquired
    Chains all;               ///< including the acquisitions of their releases
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
