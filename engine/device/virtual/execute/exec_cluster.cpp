#include "engine/device/virtual/execute/exec_cluster.hpp"

#include <algorithm>
#include <string>

#include "engine/device/virtual/execute/cluster.hpp"
#include "engine/device/virtual/execute/cta.hpp"
#include "engine/device/virtual/execute/lanes.hpp"
#include "engine/device/virtual/memory/global_access.hpp"
#include "engine/device/virtual/memory/global_memory.hpp"
#include "engine/device/virtual/memory/memory_access.hpp"
#include "engine/device/virtual/memory/parameter_space.hpp"

// Executes barrier.cluster, mapa, getctarank and isspacep.

namespace evo::ptx {
namespace {

constexpr std::uint64_t kSpaceBytes = 1ULL << 32;

bool fail(Warp& warp, const char* why) {
  warp.cta->fail(HazardKind::kBarrier, pc_of(warp), -1,
                 "barrier.cluster: a thread of warp " + std::to_string(warp.index) + " " + why);
  return false;
}

/// The value of a register in each lane, extended to 64 bits.
std::array<std::uint64_t, kWarpSize> values_of(const Warp& warp, std::uint32_t reg, bool is_wide) {
  return lane_addresses(warp, {.base = reg, .is_wide = is_wide});
}

bool is_in(std::uint64_t address, std::uint64_t window) { return address - window < kSpaceBytes; }

/// Makes the executing lanes wait: the warp executes the instruction again later.
void try_again(Warp& warp, const Instr& in) {
  if (warp.waiting.empty()) {
    warp.cta->retry_later(warp, in);
    return;
  }
  // Other lanes of the warp must run, because they may not have arrived yet.
  warp.next_pc = warp.pc;
  --warp.counts[warp.pc];
  warp.yield = true;
  ++warp.backward_branches;
}

}  // namespace

void exec_cluster_barrier(Warp& warp, const Instr& in) {
  const auto& op = in.as<ClusterBarrierOperands>();
  if (op.is_aligned && !converge(warp, kAllLanes)) return;
  Cluster& cluster = *warp.cta->cluster();
  if (!op.is_wait) {
    if (!op.is_relaxed) note_published(warp);
    warp.cta->scheduler().note_progress();
    if (!cluster.arrive(warp, warp.exec, op.is_relaxed))
      fail(warp, "arrives twice without barrier.cluster.wait in between");
    return;
  }
  if (cluster.not_arrived(warp, warp.exec) != 0) {
    fail(warp, "waits without an earlier barrier.cluster.arrive");
    return;
  }
  if (!cluster.wait(warp, warp.exec)) try_again(warp, in);
}

void exec_mapa(Warp& warp, const Instr& in) {
  const auto& op = in.as<ClusterAddressOperands>();
  const auto address = values_of(warp, op.address, op.is_wide);
  const auto* rank = warp.reg<const std::uint32_t>(op.rank);
  const std::uint64_t window = op.is_generic ? kSharedWindow : 0;
  const Cta& cta = *warp.cta;
  for_lanes<std::size_t>(warp.exec, [&](std::size_t l) {
    if (!is_in(address[l], window)) {
      warp.cta->fail(HazardKind::kInvalidInstruction, pc_of(warp), -1,
                     "mapa of an address that is not in shared memory, by " +
                         cta.names().thread(warp.index, static_cast<int>(l)));
      return;
    }
    // Reduces an invalid rank to kMost, which is invalid, too, so that an access will be reported.
    constexpr std::uint32_t kMost = kSpaceBytes / kClusterPart - 2;
    const std::uint64_t offset = offset_in_cta(address[l] - window);
    const std::uint64_t part = rank[l] == cta.cluster_rank() ? 0 : std::min(rank[l], kMost) + 1;
    const std::uint64_t mapped = window + part * kClusterPart + offset;
    if (op.is_wide) {
      warp.reg<std::uint64_t>(op.dst)[l] = mapped;
    } else {
      warp.reg<std::uint32_t>(op.dst)[l] = static_cast<std::uint32_t>(mapped);
    }
  });
}

void exec_getctarank(Warp& warp, const Instr& in) {
  const auto& op = in.as<ClusterAddressOperands>();
  const auto address = values_of(warp, op.address, op.is_wide);
  for_lanes<std::size_t>(warp.exec, [&](std::size_t l) {
    const std::uint64_t part = address[l] % kSpaceBytes / kClusterPart;
    warp.reg<std::uint32_t>(op.dst)[l] =
        part == 0 ? warp.cta->cluster_rank() : static_cast<std::uint32_t>(part - 1);
  });
}

void exec_isspacep(Warp& warp, const Instr& in) {
  const auto& op = in.as<ClusterAddressOperands>();
  const auto address = values_of(warp, op.address, true);
  std::uint32_t holds = 0;
  for_lanes<std::size_t>(warp.exec, [&](std::size_t l) {
    const std::uint64_t a = address[l];
    const bool is_shared = is_in(a, kSharedWindow);
    const bool is_local = is_in(a, kLocalWindow);
    const bool is_parameter = is_in(a, kParameterWindow);
    const bool is_true = op.space == Space::kSharedCluster ? is_shared
                         : op.space == Space::kShared      ? a - kSharedWindow < kClusterPart
                         : op.space == Space::kLocal       ? is_local
                         : op.space == Space::kParam       ? is_parameter
                                                     : !is_shared && !is_local && !is_parameter;
    if (is_true) holds |= 1U << l;
  });
  std::uint32_t& predicate = warp.predicate(op.dst);
  predicate = (predicate & ~warp.exec) | holds;
}

}  // namespace evo::ptx
