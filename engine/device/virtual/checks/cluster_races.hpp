#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/device/virtual/checks/cluster_shadow.hpp"
#include "engine/device/virtual/memory/memory_access.hpp"

// Checks accesses by the CTAs of a cluster to each other's shared memory. CtaHistory, which records
// releases and acquisitions, tells which accesses of different CTAs are ordered.

namespace evo::ptx {

class Cluster;

/// Checks and records the accesses of the lanes in LaneAccess::remote. Returns a mask of the lanes
/// that read uninitialised data. `values`: the bytes that the lanes write, or null.
std::uint32_t note_remote(Warp& warp, const LaneAccess& access, std::uint32_t bytes,
                          AccessKind kind, bool writes, const std::byte* values);
/// Checks and records the access of one lane to the shared memory of another CTA, `owner`. Returns
/// false if the lane reads uninitialised data.
bool note_remote_lane(Warp& warp, Cta& owner, const RemoteAccess& access, std::uint32_t bytes,
                      const std::byte* values);
/// If `owner` is another CTA, checks whether a use of the mbarrier at `address` of `owner` is
/// ordered after the initialisation of the mbarrier. Returns false if a hazard ended the launch.
bool note_remote_mbarrier(Warp& warp, Cta& owner, int lane, std::uint64_t address);
/// Checks whether a copy that the thread of `lane` issues is ordered after all accesses to the
/// destination: `bytes` bytes at `address` in the shared memory of another CTA, `owner`.
void check_remote_copy(Warp& warp, Cta& owner, int lane, std::uint32_t address,
                       std::uint32_t bytes);
/// Checks whether the accesses of the lanes in LaneAccess::shared are ordered after the accesses of
/// other CTAs to the same memory.
void check_remote(Warp& warp, const LaneAccess& access, std::uint32_t bytes, AccessKind kind,
                  bool writes, const std::byte* values);
/// Removes conflicts between accesses of one CTA if synchronisation through another CTA orders the
/// accesses.
void drop_ordered(Warp& warp, RaceChecker::Result& result);
/// Reports accesses of other CTAs to the shared memory of `cta` that are not ordered before the end
/// of `cta`.
void check_end(const Cluster& cluster, Cta& cta);

/// Records that a strong read by `lanes` at `address` of shared memory orders the warp after all
/// releases at this address by other CTAs. `address`: as the threads use it, in the shared memory
/// of their CTA or of the cluster, or generic.
void acquire_in_cluster(Warp& warp, std::uint32_t lanes, std::uint64_t address);
/// Records that the warp acquired only the first `length` releases at `address`.
void acquire_in_cluster(Warp& warp, std::uint32_t lanes, std::uint64_t address,
                        std::uint32_t length);
/// Records that a strong write at `address` orders the warp before warps that acquire the write.
void release_in_cluster(Warp& warp, std::uint64_t address);

}  // namespace evo::ptx
