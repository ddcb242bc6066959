#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/device/virtual/checks/cluster_shadow.hpp"
#include "engine/device/virtual/memory/memory_access.hpp"

// Checks accesses to the shared memory of a cluster, which its CTAs can access. The releases and
// acquisitions of a CTA's history order the accesses of different CTAs.

namespace evo::ptx {

class Cluster;

/// Checks and records the accesses of the lanes in LaneAccess::remote. Returns the lanes that read
/// uninitialised data. `values`: the bytes that the lanes write, or null.
std::uint32_t note_remote(Warp& warp, const LaneAccess& access, std::uint32_t bytes,
                          AccessKind kind, bool writes, const std::byte* values);
/// Checks the access of one lane to byte `address` of the shared memory of another CTA, `owner`.
/// Returns false if the lane reads uninitialised data.
bool note_remote_lane(Warp& warp, Cta& owner, const RemoteAccess& access, std::uint32_t bytes,
                      const std::byte* values);
/// Checks whether a use of the mbarrier at `address` of `owner`, which may be another CTA, is
/// ordered after its initialisation. Returns false if the launch has ended.
bool note_remote_mbarrier(Warp& warp, Cta& owner, int lane, std::uint64_t address);
/// Checks whether the write of `bytes` bytes by a copy, which the thread of `lane` issues to the
/// shared memory of `owner`, another CTA, is ordered after the accesses to them.
void check_remote_copy(Warp& warp, Cta& owner, int lane, std::uint32_t address,
                       std::uint32_t bytes);
/// Checks whether the accesses of the lanes in LaneAccess::shared are ordered after the accesses of
/// other CTAs to the same memory.
void check_remote(Warp& warp, const LaneAccess& access, std::uint32_t bytes, AccessKind kind,
                  bool writes, const std::byte* values);
/// Removes the conflicts between accesses of one CTA that synchronisation through other CTAs
/// orders.
void drop_ordered(Warp& warp, RaceChecker::Result& result);
/// Reports accesses of other CTAs that are not ordered before the end of the CTA.
void check_end(const Cluster& cluster, Cta& cta);

/// The functions acquire_in_cluster() and release_in_cluster() record that a strong access to
/// shared memory orders the warp after or before warps of other CTAs. `address`: as in
/// acquire_from().
void acquire_in_cluster(Warp& warp, std::uint64_t address);
/// Acquires the first `length` releases at the address.
void acquire_in_cluster(Warp& warp, std::uint64_t address, std::uint32_t length);
void release_in_cluster(Warp& warp, std::uint64_t address);

}  // namespace evo::ptx
