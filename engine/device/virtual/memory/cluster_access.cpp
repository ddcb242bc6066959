#include "engine/device/virtual/memory/cluster_access.hpp"

#include <fmt/format.h>

#include "engine/device/virtual/execute/cluster.hpp"
#include "engine/device/virtual/execute/lanes.hpp"

namespace evo::ptx {

Cta* owner_of(Warp& warp, int lane, std::uint64_t address, std::uint64_t bytes, const char* verb) {
  Cta& cta = *warp.cta;
  const Cluster& cluster = *cta.cluster();
  const auto fail = [&](const std::string& why) {
    cta.fail(HazardKind::kOutOfBounds, static_cast<int>(warp.pc), -1,
             fmt::format("{} of {} bytes by {} at byte {} of the shared memory of {}", verb, bytes,
                         cta.names().thread(warp.index, lane), offset_in_cta(address), why));
    return nullptr;
  };
  const std::uint64_t part = address / kClusterPart;
  const std::uint64_t rank = part == 0 ? cta.cluster_rank() : part - 1;
  if (rank >= cluster.size()) {
    return fail(
        fmt::format("the CTA of rank {} of the cluster, which has {} CTAs", rank, cluster.size()));
  }
  const std::uint64_t limit = cta.shared_bytes();
  if (offset_in_cta(address) + bytes > limit)
    return fail(fmt::format("the CTA of rank {}, which has {} bytes", rank, limit));
  Cta& owner = cluster.at(static_cast<std::uint32_t>(rank));
  if (!cluster.has_ended(owner.cluster_rank())) return &owner;
  cta.fail(HazardKind::kPendingWork, static_cast<int>(warp.pc), -1,
           fmt::format("the CTA of rank {} of the cluster has exited before the access to its {} "
                       "by {} (required: barrier.cluster after the access)",
                       rank, cta.names().shared(offset_in_cta(address)),
                       cta.names().thread(warp.index, lane)));
  return nullptr;
}

bool resolve_in_cluster(Warp& warp, LaneAccess& access, std::uint32_t mask, std::uint32_t bytes,
                        const char* verb) {
  Cta& cta = *warp.cta;
  access.shared = 0;
  for_lanes<std::size_t>(mask, [&](std::size_t l) {
    if (cta.failed()) return;
    const std::uint64_t address = access.address[l];
    Cta* const owner = owner_of(warp, static_cast<int>(l), address, bytes, verb);
    if (owner == nullptr) return;
    (owner == &cta ? access.shared : access.remote) |= 1U << l;
    access.pointer[l] = owner->shared() + offset_in_cta(address);
  });
  return !cta.failed();
}

std::uint32_t remote_taint(const Warp& warp, std::uint64_t address, std::uint32_t bytes) {
  RaceChecker& races = owner_at(*warp.cta->cluster(), address).races();
  return races.taint_mask(static_cast<std::uint32_t>(offset_in_cta(address)), bytes);
}

}  // namespace evo::ptx
