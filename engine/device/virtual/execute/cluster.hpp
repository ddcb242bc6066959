#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/device/virtual/checks/cluster_shadow.hpp"
#include "engine/device/virtual/execute/cta.hpp"

namespace evo::ptx {

/// The size of a CTA's part of the address space .shared::cluster. The part of the CTA with rank r
/// begins at (r + 1) · kClusterPart. Addresses below kClusterPart belong to the thread's own CTA.
inline constexpr std::uint64_t kClusterPart = 1ULL << 24;

[[nodiscard]] inline std::uint64_t offset_in_cta(std::uint64_t address) {
  return address % kClusterPart;
}

/// The address in .shared::cluster of the first byte of a CTA's shared memory.
[[nodiscard]] inline std::uint64_t part_of(const Cta& cta) {
  return (cta.cluster_rank() + 1) * kClusterPart;
}

/// The releases at addresses of a cluster's shared memory. `address`: as a thread of `cta` uses it.
class SharedReleases {
 public:
  /// Returns null if there is no release at `address`, or if `address` is not in shared memory.
  [[nodiscard]] ReleaseChain* find(const Cta& cta, std::uint64_t address) const;
  /// Like find(), but makes the chain if `address` in shared memory has none.
  [[nodiscard]] ReleaseChain* make(const Cta& cta, std::uint64_t address);
  void clear() { chains_.clear(); }

 private:
  std::unordered_map<std::uint64_t, ReleaseChain*> chains_;
};

/// The CTAs of a cluster and their barrier. One host thread runs the CTAs in turns.
class Cluster {
 public:
  /// `ctas`: by rank; they must outlive the cluster.
  explicit Cluster(std::span<const std::unique_ptr<Cta>> ctas) : ctas_(ctas) {}

  /// Must be called before the CTAs start.
  void start();
  /// Must be called when all threads of a CTA have exited.
  void end(Cta& cta);
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(ctas_.size()); }
  [[nodiscard]] Cta& at(std::uint32_t rank) const { return *ctas_[rank]; }
  /// The accesses of other CTAs to the shared memory of a CTA.
  [[nodiscard]] ClusterShadow& shadow_of(std::uint32_t rank) const {
    return *members_[rank].shadow;
  }
  [[nodiscard]] SharedReleases& releases() { return releases_; }
  [[nodiscard]] bool has_ended(std::uint32_t rank) const { return members_[rank].has_ended; }
  /// True if no warp of any CTA can run.
  [[nodiscard]] bool is_stuck() const;
  /// True if Cta::only_waits() is true for all CTAs.
  [[nodiscard]] bool only_waits() const;
  /// True if a thread of the CTA knows that all CTAs have started, because it has waited at the
  /// barrier of the cluster.
  [[nodiscard]] bool knows_start(std::uint32_t rank) const { return members_[rank].has_waited; }

  /// Makes `lanes` of a warp arrive at the barrier. Returns false if one of the lanes has already
  /// arrived and has not waited since.
  [[nodiscard]] bool arrive(Warp& warp, std::uint32_t lanes, bool is_relaxed);
  /// Those of `lanes` that have not arrived at the barrier since they last waited.
  [[nodiscard]] std::uint32_t not_arrived(const Warp& warp, std::uint32_t lanes);
  /// Returns true if the phase in which `lanes` of a warp arrived is complete. Otherwise, the warp
  /// must try again.
  [[nodiscard]] bool wait(Warp& warp, std::uint32_t lanes);
  /// Completes the phase of the barrier if all threads have arrived or exited. Must be called after
  /// threads have exited.
  void release_if_complete();
  /// Says, for reports, how many threads have arrived at the barrier.
  [[nodiscard]] std::string describe_arrivals() const;

 private:
  struct WarpArrival {
    std::uint32_t arrived = 0;  ///< lanes that arrived in this phase of the barrier
    std::uint32_t pending = 0;  ///< lanes that arrived and have not waited
  };
  struct Member {
    bool has_ended = false;
    bool has_waited = false;
    std::vector<WarpArrival> warps;
    VectorClock arriving{};
    VectorClock completed{};
    std::unique_ptr<ClusterShadow> shadow;
  };
  [[nodiscard]] WarpArrival& arrival_of(const Warp& warp);

  std::span<const std::unique_ptr<Cta>> ctas_;
  std::vector<Member> members_;
  ReleaseChain* arrivals_ = nullptr;  ///< the releases of all arrivals at the barrier
  std::uint32_t completed_ = 0;       ///< number of these releases in the completed phases
  SharedReleases releases_;
};

/// The CTA that owns an address of .shared::cluster from kClusterPart on, which must be valid.
[[nodiscard]] inline Cta& owner_at(const Cluster& cluster, std::uint64_t address) {
  return cluster.at(static_cast<std::uint32_t>(address / kClusterPart - 1));
}

/// The value, in CTA `cta` of the grid, of a special register for clusters (%cluster_ctarank …).
[[nodiscard]] std::uint32_t cluster_special(const LaunchContext& launch,
                                            const std::array<std::uint32_t, 3>& cta,
                                            Special special);

}  // namespace evo::ptx
