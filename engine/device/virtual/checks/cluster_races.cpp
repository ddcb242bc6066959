#include "engine/device/virtual/checks/cluster_races.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "engine/device/virtual/execute/cluster.hpp"
#include "engine/device/virtual/execute/lanes.hpp"

namespace evo::ptx {
namespace {

bool is_checked(const Cta& cta) {
  return cta.cluster() != nullptr && cta.launch().check && cta.launch().global_races.is_on();
}

/// True if the access that warp `by` of the CTA of rank `rank` made at `time` is ordered before the
/// next access of `warp`.
bool is_ordered(Warp& warp, std::uint32_t rank, int by, std::uint32_t time) {
  Cta& cta = *warp.cta;
  const VectorClock& clock = cta.races().clocks().of(warp.index);
  const bool is_own = rank == cta.cluster_rank();
  if (is_own && (by == warp.index || clock[static_cast<std::size_t>(by)] >= time)) return true;
  return cta.made_history().knows(warp.index, clock, cta.cluster()->at(rank).number(), by, time);
}

/// As is_ordered(), for accesses of the own CTA that only other CTAs may order, because the warp's
/// clock includes the access only for some lanes.
bool is_ordered_by_others(Warp& warp, int by, std::uint32_t time) {
  Cta& cta = *warp.cta;
  return cta.made_history().knows(warp.index, cta.races().clocks().of(warp.index), cta.number(), by,
                                  time);
}

/// Names the thread and the CTA that made an access.
std::string actor_text(const Cta& cta, std::uint32_t rank, int warp, int lane) {
  return fmt::format("{} in the CTA of rank {} of the cluster", cta.names().thread(warp, lane),
                     rank);
}

void report_race(Warp& warp, const Cta& owner, const RemoteAccess& access,
                 const RaceChecker::Recorded& other, std::uint32_t other_rank) {
  Cta& cta = *warp.cta;
  const HazardKind kind = other.is_async ? HazardKind::kAsyncRace : HazardKind::kSharedRace;
  if (cta.is_reported(kind, pc_of(warp), other.pc)) return;
  cta.report(
      kind, pc_of(warp), other.pc,
      fmt::format("{} of {} in the CTA of rank {} by {} is not ordered after the {} by {} (no "
                  "barrier.cluster, mbarrier, or release and acquire of cluster scope orders them)",
                  access.is_write ? "write" : "read", cta.names().shared(other.address),
                  owner.cluster_rank(), actor_text(cta, access.rank, access.warp, access.lane),
                  other.is_async   ? "copy"
                  : other.is_write ? "write"
                                   : "read",
                  actor_text(cta, other_rank, other.warp, other.lane)));
}

/// True if a store writes the bytes that the recorded write has left in memory.
bool writes_same(Cta& owner, const RemoteAccess& access, std::uint32_t bytes,
                 const RaceChecker::Recorded& other, const std::byte* values) {
  if (values == nullptr || !other.is_write || other.is_async) return false;
  const auto granule = static_cast<std::uint32_t>(owner.program().shared_granule);
  const std::uint32_t at = std::max(access.address, other.address);
  const std::uint32_t end = std::min(access.address + bytes, other.address + granule);
  return std::memcmp(values + (at - access.address), owner.shared() + at, end - at) == 0;
}

void check_against(Warp& warp, Cta& owner, const RemoteAccess& access, std::uint32_t bytes,
                   const RaceChecker::Recorded& other, std::uint32_t rank,
                   const std::byte* values) {
  const bool both_strong = access.is_strong && other.is_strong;
  // CtaHistory records no completed bulk copies (`other.warp` from kMaxWarps on), so whether the
  // access is ordered after such a copy is unknown, and no race is reported.
  const bool is_landed = other.warp >= kMaxWarps && !other.is_async;
  if (both_strong || is_landed) return;
  if (!other.is_async && is_ordered(warp, rank, other.warp, other.time)) return;
  if (writes_same(owner, access, bytes, other, values)) return;
  report_race(warp, owner, access, other, rank);
}

RaceChecker::Recorded recorded(const RemoteAccess& access) {
  return {.warp = access.warp,
          .lane = access.lane,
          .pc = static_cast<int>(access.pc),
          .time = access.time,
          .address = access.address,
          .is_write = access.is_write,
          .is_strong = access.is_strong,
          .is_async = false};
}

void check_others(Warp& warp, Cta& owner, const RemoteAccess& access, std::uint32_t bytes,
                  const std::byte* values) {
  const ClusterShadow& shadow = warp.cta->cluster()->shadow_of(owner.cluster_rank());
  for (const RemoteAccess& other : shadow.accesses(access.address, bytes, access.is_write)) {
    if (other.rank == access.rank && other.warp == access.warp) continue;
    check_against(warp, owner, access, bytes, recorded(other), other.rank, values);
  }
}

RemoteAccess access_of(const Warp& warp, std::size_t lane, std::uint64_t address, AccessKind kind,
                       bool writes) {
  Cta& cta = *warp.cta;
  return {.time = cta.races().clocks().now(warp.index),
          .pc = warp.pc,
          .address = static_cast<std::uint32_t>(offset_in_cta(address)),
          .rank = static_cast<std::uint8_t>(cta.cluster_rank()),
          .warp = static_cast<std::uint8_t>(warp.index),
          .lane = static_cast<std::uint8_t>(lane),
          .is_strong = kind != AccessKind::kPlain,
          .is_write = writes};
}

/// Reports an access to a CTA that may not have started.
void check_start(Warp& warp, const Cta& owner, const RemoteAccess& access) {
  Cta& cta = *warp.cta;
  if (cta.cluster()->knows_start(access.rank) ||
      cta.is_reported(HazardKind::kSharedRace, pc_of(warp), -1))
    return;
  cta.report(HazardKind::kSharedRace, pc_of(warp), -1,
             fmt::format("access to {} in the CTA of rank {} by {}: the accessed CTA may not have "
                         "started (required: barrier.cluster before the access)",
                         cta.names().shared(access.address), owner.cluster_rank(),
                         actor_text(cta, access.rank, access.warp, access.lane)));
}

}  // namespace

bool note_remote_lane(Warp& warp, Cta& owner, const RemoteAccess& access, std::uint32_t bytes,
                      const std::byte* values) {
  if (!is_checked(*warp.cta)) return true;
  check_start(warp, owner, access);
  const bool is_written = values != nullptr || owner.races().taint_mask(access.address, bytes) == 0;
  for (const auto& other : owner.races().recorded(access.address, bytes, access.is_write))
    check_against(warp, owner, access, bytes, other, owner.cluster_rank(), values);
  check_others(warp, owner, access, bytes, values);
  warp.cta->cluster()->shadow_of(owner.cluster_rank()).add(access, bytes);
  if (access.is_write) {
    // The owner's race checker only needs to know that the bytes are initialised, so it records a
    // copy of time 0, which is ordered before every access.
    const std::uint64_t address = access.address;
    owner.races().complete_copy({.warp = 0,
                                 .pc = access.pc,
                                 .mask = 1,
                                 .address = &address,
                                 .bytes = bytes,
                                 .kind = AccessKind::kPlain},
                                kMaxWarps, 0);
  }
  return is_written;
}

bool note_remote_mbarrier(Warp& warp, Cta& owner, int lane, std::uint64_t address) {
  constexpr std::uint32_t kBytes = 8;
  if (&owner != warp.cta) {
    const RemoteAccess access =
        access_of(warp, static_cast<std::size_t>(lane), address, AccessKind::kStrong, false);
    note_remote_lane(warp, owner, access, kBytes, nullptr);
  }
  return !warp.cta->failed();
}

void check_remote_copy(Warp& warp, Cta& owner, int lane, std::uint32_t address,
                       std::uint32_t bytes) {
  if (!is_checked(*warp.cta)) return;
  const RemoteAccess access =
      access_of(warp, static_cast<std::size_t>(lane), address, AccessKind::kPlain, true);
  check_start(warp, owner, access);
  for (const auto& other : owner.races().recorded(address, bytes, true))
    check_against(warp, owner, access, bytes, other, owner.cluster_rank(), nullptr);
  check_others(warp, owner, access, bytes, nullptr);
}

std::uint32_t note_remote(Warp& warp, const LaneAccess& access, std::uint32_t bytes,
                          AccessKind kind, bool writes, const std::byte* values) {
  std::uint32_t unwritten = 0;
  for_lanes<std::size_t>(access.remote, [&](std::size_t l) {
    Cta& owner = owner_at(*warp.cta->cluster(), access.address[l]);
    const RemoteAccess one = access_of(warp, l, access.address[l], kind, writes);
    const std::byte* own_values = values == nullptr ? nullptr : values + l * bytes;
    if (!note_remote_lane(warp, owner, one, bytes, own_values)) unwritten |= 1U << l;
  });
  return unwritten;
}

void check_remote(Warp& warp, const LaneAccess& access, std::uint32_t bytes, AccessKind kind,
                  bool writes, const std::byte* values) {
  Cta& cta = *warp.cta;
  if (!is_checked(cta) || cta.cluster()->shadow_of(cta.cluster_rank()).is_empty()) return;
  for_lanes<std::size_t>(access.shared, [&](std::size_t l) {
    check_others(warp, cta, access_of(warp, l, access.address[l], kind, writes), bytes,
                 values == nullptr ? nullptr : values + l * bytes);
  });
}

void drop_ordered(Warp& warp, RaceChecker::Result& result) {
  const Cta& cta = *warp.cta;
  if (!is_checked(cta)) return;
  std::erase_if(result.conflicts, [&](const Conflict& conflict) {
    const bool may_be_ordered = !conflict.same_warp && !conflict.other_is_async &&
                                !conflict.missing_proxy_fence && conflict.other_warp < kMaxWarps;
    if (may_be_ordered && conflict.missing_lane_order)
      return is_ordered_by_others(warp, conflict.other_warp, conflict.other_time);
    return may_be_ordered &&
           is_ordered(warp, cta.cluster_rank(), conflict.other_warp, conflict.other_time);
  });
}

void check_end(const Cluster& cluster, Cta& cta) {
  if (!is_checked(cta)) return;
  for (const RemoteAccess& access : cluster.shadow_of(cta.cluster_rank()).latest()) {
    const auto knows = [&](Warp& warp) {
      return is_ordered(warp, access.rank, access.warp, access.time);
    };
    if (std::ranges::any_of(cta.warps(), knows)) continue;
    cta.report(HazardKind::kPendingWork, static_cast<int>(access.pc), -1,
               fmt::format("the CTA of rank {} of the cluster may exit before the access to its {} "
                           "by {} (required: barrier.cluster after the access)",
                           cta.cluster_rank(), cta.names().shared(access.address),
                           actor_text(cta, access.rank, access.warp, access.lane)));
  }
}

void acquire_in_cluster(Warp& warp, std::uint32_t lanes, std::uint64_t address) {
  const ReleaseChain* const chain = warp.cta->cluster()->releases().find(*warp.cta, address);
  if (chain != nullptr) acquire_in_cluster(warp, lanes, address, chain->length());
}

void acquire_in_cluster(Warp& warp, std::uint32_t lanes, std::uint64_t address,
                        std::uint32_t length) {
  Cta& cta = *warp.cta;
  const ReleaseChain* const chain = cta.cluster()->releases().find(cta, address);
  if (!is_checked(cta) || chain == nullptr) return;
  cta.made_history().acquire(warp.index, cta.races().clocks().of(warp.index), *chain, length);
  // A CtaHistory does not tell which lanes' accesses the other CTAs have acquired, so all earlier
  // accesses of this warp are assumed to be ordered.
  cta.races().clocks().order_before(warp.index, lanes);
}

void release_in_cluster(Warp& warp, std::uint64_t address) {
  Cta& cta = *warp.cta;
  if (!is_checked(cta)) return;
  const Release* const made =
      cta.made_history().release(warp.index, cta.races().clocks().of(warp.index));
  ReleaseChain* const chain =
      made == nullptr ? nullptr : cta.cluster()->releases().make(cta, address);
  if (chain != nullptr) chain->append(*made);
}

}  // namespace evo::ptx
