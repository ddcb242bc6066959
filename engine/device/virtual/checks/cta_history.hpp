#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "engine/device/virtual/checks/releases.hpp"
#include "engine/device/virtual/checks/vector_clock.hpp"

namespace evo::ptx {

/// Records what one CTA saw of others and published, in a launch. Belongs to the host thread that
/// runs the CTA; its releases and acquisitions, which others look at, stay as they are.
///
/// What warp v of CTA A did at t is ordered before what warp w of CTA B does when B acquired a
/// chain, in w or before w by a barrier, with a release of A that publishes t of v; or one with a
/// release of a third CTA that had acquired such a chain before.
class CtaHistory {
 public:
  CtaHistory(std::uint64_t cta, int warps);

  /// A warp saw the chain as far as it goes now.
  void acquire(int warp, const VectorClock& clock, const ReleaseChain& chain);
  /// What a change by this warp publishes now; nullptr: nothing.
  [[nodiscard]] const Release* release(int warp, const VectorClock& clock);
  /// A fence: who sees a plain store of this CTA may see what it published so far.
  void fence(int warp, const VectorClock& clock);
  [[nodiscard]] const ReleaseChain& fences() const { return fences_; }

  /// Whether what `other_warp` of `other` did at `time` is ordered before what `warp` does now.
  [[nodiscard]] bool knows(int warp, const VectorClock& clock, std::uint64_t other, int other_warp,
                           std::uint32_t time);

  /// A warp saw a place as `change` left it. Of more places than kMostPlaces all count as seen.
  void see(int warp, const VectorClock& clock, const void* place, std::uint64_t change);
  [[nodiscard]] bool has_seen(int warp, const VectorClock& clock, const void* place,
                              std::uint64_t change) const;

 private:
  static constexpr std::size_t kMostPlaces = 1024;
  using Chains = std::unordered_map<const ReleaseChain*, std::uint32_t>;  ///< with their lengths
  /// Of another CTA: until when its acquisitions count, and which of them were taken over.
  struct Reached {
    std::vector<std::uint32_t> known;
    std::uint32_t taken = 0;
  };
  /// What a warp has found out so far.
  struct Knowledge {
    std::vector<const Acquisition*> waiting;  ///< by other warps, not yet before it
    std::uint32_t taken = 0;                  ///< acquisitions looked at
    Chains direct;                            ///< that its CTA acquired
    Chains all;                               ///< with what their releases had acquired
    std::unordered_map<std::uint64_t, Reached> reached;
    std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> published;  ///< of other CTAs
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
  std::vector<Chains> acquired_;        ///< by each warp
  std::vector<const Release*> latest_;  ///< of each warp
  std::vector<Knowledge> knowledge_;    ///< of each warp
  std::unordered_map<const void*, Seen> seen_;
};

}  // namespace evo::ptx
