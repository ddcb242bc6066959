#include "engine/device/virtual/execute/cluster.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "engine/device/virtual/checks/cluster_races.hpp"

namespace evo::ptx {
namespace {

constexpr std::uint64_t kNoKey = ~0ULL;

/// A number that identifies a location in the shared memory of the cluster; kNoKey if the address
/// is in other memory.
std::uint64_t key_of(const Cta& cta, std::uint64_t address) {
  constexpr std::uint64_t kWindow = 1ULL << 32;
  if (address - kSharedWindow < kWindow) address -= kSharedWindow;
  if (address >= kWindow) return kNoKey;
  if (address >= kClusterPart) return address;
  return address + part_of(cta);
}

}  // namespace

void Cluster::start() {
  members_ = std::vector<Member>(ctas_.size());
  releases_.clear();
  arrivals_ = nullptr;
  completed_ = 0;
  for (std::size_t rank = 0; rank < ctas_.size(); ++rank) {
    const Cta& cta = *ctas_[rank];
    const std::size_t warps = ctas_[rank]->warps().size();
    members_[rank].warps.resize(warps);
    members_[rank].shadow =
        std::make_unique<ClusterShadow>(cta.shared_bytes(), cta.program().shared_granule, size(),
                                        static_cast<std::uint32_t>(warps));
  }
}

void Cluster::end(Cta& cta) {
  members_[cta.cluster_rank()].has_ended = true;
  check_end(*this, cta);
}

bool Cluster::is_stuck() const {
  return std::ranges::all_of(ctas_, [](const auto& cta) { return cta->is_blocked(); });
}

bool Cluster::only_waits() const {
  return std::ranges::all_of(ctas_, [](const auto& cta) { return cta->only_waits(); });
}

Cluster::WarpArrival& Cluster::arrival_of(const Warp& warp) {
  return members_[warp.cta->cluster_rank()].warps[static_cast<std::size_t>(warp.index)];
}

bool Cluster::arrive(Warp& warp, std::uint32_t lanes, bool is_relaxed) {
  WarpArrival& arrival = arrival_of(warp);
  if ((arrival.pending & lanes) != 0) return false;
  arrival.pending |= lanes;
  arrival.arrived |= lanes;
  Cta& cta = *warp.cta;
  members_[cta.cluster_rank()].arriving.join(
      is_relaxed ? cta.fenced(warp.index)
                 : cta.races().clocks().released(warp.index, lanes, warp.alive));
  if (cta.launch().check && cta.launch().global_races.is_on()) {
    if (arrivals_ == nullptr) arrivals_ = &cta.launch().global_races.new_chain();
    if (const Release* made =
            cta.made_history().release(warp.index, cta.races().clocks().of(warp.index)))
      arrivals_->append(*made);
  }
  cta.races().clocks().tick(warp.index);
  release_if_complete();
  return true;
}

std::uint32_t Cluster::not_arrived(const Warp& warp, std::uint32_t lanes) {
  return lanes & ~arrival_of(warp).pending;
}

bool Cluster::wait(Warp& warp, std::uint32_t lanes) {
  WarpArrival& arrival = arrival_of(warp);
  if ((arrival.arrived & lanes) != 0) release_if_complete();
  if ((arrival.arrived & lanes) != 0) return false;
  arrival.pending &= ~lanes;
  Member& member = members_[warp.cta->cluster_rank()];
  member.has_waited = true;
  Cta& cta = *warp.cta;
  cta.races().clocks().acquire(warp.index, lanes, warp.alive, member.completed);
  if (arrivals_ != nullptr) {
    cta.made_history().acquire(warp.index, cta.races().clocks().of(warp.index), *arrivals_,
                               completed_);
  }
  return true;
}

void Cluster::release_if_complete() {
  for (std::size_t rank = 0; rank < ctas_.size(); ++rank) {
    for (const Warp& warp : ctas_[rank]->warps()) {
      const auto& arrival = members_[rank].warps[static_cast<std::size_t>(warp.index)];
      if ((warp.alive & ~arrival.arrived) != 0) return;
    }
  }
  if (arrivals_ != nullptr) completed_ = arrivals_->length();
  for (std::size_t rank = 0; rank < ctas_.size(); ++rank) {
    for (WarpArrival& arrival : members_[rank].warps) arrival.arrived = 0;
    members_[rank].completed = members_[rank].arriving;
    members_[rank].arriving = VectorClock{};
    ctas_[rank]->wake_retrying();
    ctas_[rank]->scheduler().note_progress();
  }
}

ReleaseChain* SharedReleases::find(const Cta& cta, std::uint64_t address) const {
  const auto found = chains_.find(key_of(cta, address));
  return found == chains_.end() ? nullptr : found->second;
}

ReleaseChain* SharedReleases::make(const Cta& cta, std::uint64_t address) {
  const std::uint64_t key = key_of(cta, address);
  if (key == kNoKey) return nullptr;
  ReleaseChain*& chain = chains_[key];
  if (chain == nullptr) chain = &cta.launch().global_races.new_chain();
  return chain;
}

std::string Cluster::describe_arrivals() const {
  int arrived = 0;
  int running = 0;
  std::string missing;
  for (std::size_t rank = 0; rank < ctas_.size(); ++rank) {
    for (const Warp& warp : ctas_[rank]->warps()) {
      const auto& arrival = members_[rank].warps[static_cast<std::size_t>(warp.index)];
      running += std::popcount(warp.alive);
      arrived += std::popcount(warp.alive & arrival.arrived);
      if ((warp.alive & ~arrival.arrived) != 0 && missing.empty()) {
        missing =
            fmt::format("; threads of warp {} in the CTA of rank {} did not", warp.index, rank);
      }
    }
  }
  return fmt::format("{} of {} running threads of the cluster arrived{}", arrived, running,
                     missing);
}

std::uint32_t cluster_special(const LaunchContext& launch, const std::array<std::uint32_t, 3>& cta,
                              Special special) {
  const auto& size = launch.program->cluster;
  const auto at = [&](Special first) {
    return static_cast<std::size_t>(special) - static_cast<std::size_t>(first);
  };
  if (special >= Special::kClusterIdX && special <= Special::kClusterIdZ) {
    const std::size_t d = at(Special::kClusterIdX);
    return cta[d] / size[d];
  }
  if (special >= Special::kNClusterIdX && special <= Special::kNClusterIdZ) {
    const std::size_t d = at(Special::kNClusterIdX);
    return launch.grid[d] / size[d];
  }
  if (special >= Special::kClusterCtaIdX && special <= Special::kClusterCtaIdZ) {
    const std::size_t d = at(Special::kClusterCtaIdX);
    return cta[d] % size[d];
  }
  if (special >= Special::kClusterNCtaIdX && special <= Special::kClusterNCtaIdZ)
    return size[at(Special::kClusterNCtaIdX)];
  if (special == Special::kClusterCtaRank) {
    return cta[0] % size[0] + size[0] * (cta[1] % size[1] + size[1] * (cta[2] % size[2]));
  }
  if (special == Special::kClusterNCtaRank) return launch.program->cluster_ctas();
  if (special == Special::kIsExplicitCluster)
    return launch.program->explicit_cluster ? kAllLanes : 0;
  return 0;
}

}  // namespace evo::ptx
