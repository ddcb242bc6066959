#include "engine/device/virtual/execute/exec_mbarrier.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

#include "engine/device/virtual/checks/cluster_races.hpp"
#include "engine/device/virtual/execute/cluster.hpp"
#include "engine/device/virtual/execute/cta.hpp"
#include "engine/device/virtual/execute/exec_async.hpp"
#include "engine/device/virtual/execute/lanes.hpp"
#include "engine/device/virtual/memory/global_access.hpp"
#include "engine/device/virtual/memory/memory_access.hpp"

// Executes instructions on mbarrier objects. The 8 bytes of an mbarrier object in shared memory
// hold a pattern that contains their address. If the pattern is missing, the kernel has overwritten
// the mbarrier object or has not initialised it. When a phase of an mbarrier completes, warps that
// wait for the phase receive the vector clocks of the warps that arrived.

namespace evo::ptx {
namespace {

constexpr std::uint64_t kPattern = 0x6d62'6172'0000'0000ULL;

bool arrive(Warp& warp, const Cta& owner, MBarrier& barrier, std::uint32_t count, std::size_t lane,
            std::uint64_t address) {
  Cta& cta = *warp.cta;
  if (count > barrier.pending) {
    cta.fail(HazardKind::kBarrier, pc_of(warp), -1,
             "mbarrier at " + cta.names().shared(address) + ": more arrivals than its count " +
                 std::to_string(barrier.count) + " in one phase, by " +
                 cta.names().thread(warp.index, static_cast<int>(lane)));
    return false;
  }
  if (&owner == &cta) {
    barrier.arriving.join(cta.races().clocks().released(warp.index, warp.exec, warp.alive));
  } else {
    note_published(warp);
    release_in_cluster(warp, part_of(owner) + address);
    barrier.is_foreign = true;
  }
  barrier.pending -= count;
  cta.scheduler().note_progress();
  return true;
}

/// Orders the next accesses of the waiting lanes after the accesses that the completed phases of
/// the mbarriers at `address` cover. Handles all lanes with the same mbarrier at once.
void acquire_completed(Warp& warp, const std::array<std::uint64_t, kWarpSize>& address,
                       std::uint32_t lanes) {
  while (lanes != 0 && !warp.cta->failed()) {
    const auto first = static_cast<std::size_t>(std::countr_zero(lanes));
    std::uint32_t same = 0;
    for_lanes<std::size_t>(lanes, [&](std::size_t l) {
      if (address[l] == address[first]) same |= 1U << l;
    });
    const MBarrier& barrier = warp.cta->mbarriers().at(static_cast<std::uint32_t>(address[first]));
    warp.cta->races().clocks().acquire(warp.index, same, warp.alive, barrier.completed);
    if (barrier.released != 0) acquire_in_cluster(warp, same, address[first], barrier.released);
    lanes &= ~same;
  }
}

/// Counts the successive failed waits for an mbarrier. A wait at most kPollingLoop instructions
/// after the previous failed wait counts as successive.
/// `address`: the mbarriers for which the lanes wait; `lanes`: those whose wait failed.
void note_vain_wait(Warp& warp, const std::array<std::uint64_t, kWarpSize>& address,
                    std::uint32_t lanes) {
  const bool is_soon = warp.executed - warp.waited_at <= kPollingLoop;
  warp.vain_waits = is_soon ? warp.vain_waits + 1 : 0;
  warp.waited_at = warp.executed;
  warp.awaited =
      static_cast<std::uint32_t>(address[static_cast<std::size_t>(std::countr_zero(lanes))]);
  warp.blocked_at = warp.code + warp.pc;
}

/// Checks the limit of expected bytes: the hardware counts up to 2^20 − 1 bytes (PTX ISA,
/// "tx-count").
bool check_expected(Warp& warp, const MBarrier& barrier, std::size_t lane, std::uint64_t address) {
  constexpr std::int64_t kMost = (1 << 20) - 1;
  if (barrier.transactions <= kMost) return true;
  Cta& cta = *warp.cta;
  cta.fail(HazardKind::kBarrier, pc_of(warp), -1,
           "mbarrier at " + cta.names().shared(address) + ": after an expect_tx of " +
               cta.names().thread(warp.index, static_cast<int>(lane)) + ", it expects " +
               std::to_string(barrier.transactions) + " bytes in one phase; allowed: at most " +
               std::to_string(kMost));
  return false;
}

/// Checks that mbarrier objects are in bounds and aligned; otherwise ends the launch and returns
/// false.
bool check_objects(Warp& warp, const Address& object,
                   const std::array<std::uint64_t, kWarpSize>& address) {
  report_tainted_address(warp, object, warp.exec);
  return resolve(warp, Space::kShared, address, warp.exec, 8, AccessIntent::kReadWrite).ok;
}

}  // namespace

void complete_phase_if_done(Cta& owner, MBarrier& barrier, std::uint64_t address) {
  if (barrier.pending != 0 || barrier.transactions != 0) return;
  ++barrier.phase;
  barrier.pending = barrier.count;
  barrier.completed = barrier.arriving;
  barrier.arriving = VectorClock{};
  owner.scheduler().note_progress();
  if (owner.cluster() == nullptr) return;
  const ReleaseChain* const chain = owner.cluster()->releases().find(owner, address);
  if (chain != nullptr) barrier.released = chain->length();
}

MBarrier* find_mbarrier(Warp& warp, std::uint64_t address, std::size_t lane) {
  return find_mbarrier(warp, *warp.cta, address, lane);
}

MBarrier* find_mbarrier(Warp& warp, Cta& owner, std::uint64_t address, std::size_t lane) {
  Cta& cta = *warp.cta;
  const auto found = owner.mbarriers().find(static_cast<std::uint32_t>(address));
  std::uint64_t stored = 0;
  if (address + 8 <= owner.shared_bytes()) std::memcpy(&stored, owner.shared() + address, 8);
  if (found == owner.mbarriers().end() || stored != (kPattern | address)) {
    cta.fail(
        HazardKind::kBarrier, pc_of(warp), -1,
        "no initialised mbarrier at " + cta.names().shared(address) +
            (&owner == &cta ? "" : " in the CTA of rank " + std::to_string(owner.cluster_rank())) +
            " (" +
            (found == owner.mbarriers().end() ? "uninitialised or invalidated" : "overwritten") +
            "), used by " + cta.names().thread(warp.index, static_cast<int>(lane)));
    return nullptr;
  }
  return &found->second;
}

bool check_mbarriers(Warp& warp, const std::array<std::uint64_t, kWarpSize>& address,
                     bool in_cluster) {
  LaneAccess access = resolve(warp, in_cluster ? Space::kSharedCluster : Space::kShared, address,
                              warp.exec, 8, AccessIntent::kReadWrite);
  if (!access.ok) return false;
  access.pattern = LanePattern::kScattered;
  note_shared_read(warp, access, 8, AccessKind::kStrong);
  return true;
}

void exec_mbarrier_init(Warp& warp, const Instr& in) {
  Cta& cta = *warp.cta;
  const auto& op = in.as<MbarrierInitOperands>();
  const auto address = shared_addresses(warp, op.object);
  report_tainted_address(warp, op.object, warp.exec);
  const LaneAccess access =
      resolve(warp, Space::kShared, address, warp.exec, 8, AccessIntent::kWrite);
  if (!access.ok) return;
  const auto* count = warp.reg<const std::uint32_t>(op.count);
  std::byte values[kWarpSize * 8] = {};
  for_lanes<std::size_t>(warp.exec, [&](std::size_t l) {
    const std::uint64_t pattern = kPattern | address[l];
    std::memcpy(values + l * 8, &pattern, 8);
  });
  note_shared_write(warp, access, 8, AccessKind::kPlain, values);
  for_lanes<std::size_t>(warp.exec, [&](std::size_t l) {
    std::memcpy(access.pointer[l], values + l * 8, 8);
    if (count[l] == 0 || count[l] >= (1U << 20)) {
      cta.fail(HazardKind::kBarrier, pc_of(warp), -1,
               "mbarrier count " + std::to_string(count[l]) + " is not in 1 … 2^20 − 1");
      return;
    }
    cta.mbarriers()[static_cast<std::uint32_t>(address[l])] = {.count = count[l],
                                                               .pending = count[l]};
  });
}

void exec_mbarrier_inval(Warp& warp, const Instr& in) {
  const auto& op = in.as<MbarrierInvalOperands>();
  const auto address = shared_addresses(warp, op.object);
  if (!check_objects(warp, op.object, address)) return;
  for_lanes<std::size_t>(warp.exec, [&](std::size_t l) {
    const MBarrier* barrier = find_mbarrier(warp, address[l], l);
    if (barrier == nullptr) return;
    if (barrier->copies.empty()) {
      warp.cta->mbarriers().erase(static_cast<std::uint32_t>(address[l]));
      return;
    }
    warp.cta->fail(HazardKind::kBarrier, pc_of(warp), static_cast<int>(barrier->copies.front().pc),
                   "mbarrier at " + warp.cta->names().shared(address[l]) +
                       " is invalidated before the bulk copies on it have arrived");
  });
}

void exec_mbarrier_arrive(Warp& warp, const Instr& in) {
  Cta& cta = *warp.cta;
  const auto& op = in.as<MbarrierArriveOperands>();
  const auto address = shared_addresses(warp, op.object);
  report_tainted_address(warp, op.object, warp.exec);
  if (!check_mbarriers(warp, address, op.in_cluster)) return;
  const auto* operand =
      op.operand == kNoRegister ? nullptr : warp.reg<const std::uint32_t>(op.operand);
  for_lanes<std::size_t>(warp.exec, [&](std::size_t l) {
    if (cta.failed()) return;
    const bool is_own = address[l] < kClusterPart;
    Cta& owner = is_own ? cta : owner_at(*cta.cluster(), address[l]);
    const std::uint64_t offset = offset_in_cta(address[l]);
    MBarrier* barrier = find_mbarrier(warp, owner, offset, l);
    if (barrier == nullptr) return;
    const std::uint64_t phase = barrier->phase;
    const std::uint64_t state = phase | std::uint64_t{barrier->pending} << kPendingShift;
    if (op.kind == ArriveOperand::kExpectedBytes) {
      barrier->transactions += operand[l];
      if (!check_expected(warp, *barrier, l, offset)) return;
    }
    if (op.kind == ArriveOperand::kCompletedBytes) barrier->transactions -= operand[l];
    const std::uint32_t count = op.kind == ArriveOperand::kCount ? operand[l] : 1;
    if (is_own) cta.note_sync(warp, mbarrier_key(address[l]), static_cast<std::int64_t>(phase), -1);
    if (op.arrives && !arrive(warp, owner, *barrier, count, l, offset)) return;
    if (op.drops) barrier->count -= count;
    if (op.dst != kNoRegister) warp.reg<std::uint64_t>(op.dst)[l] = state;
    complete_phase_if_done(owner, *barrier, offset);
  });
  cta.races().clocks().tick(warp.index);
}

void exec_mbarrier_wait(Warp& warp, const Instr& in) {
  Cta& cta = *warp.cta;
  const auto& op = in.as<MbarrierWaitOperands>();
  const auto address = shared_addresses(warp, op.object);
  if (!check_objects(warp, op.object, address)) return;
  std::uint32_t done = 0;
  MBarrier* barrier = nullptr;  // the mbarrier of the previous lane, usually the same
  std::uint64_t known = 0;
  for_lanes<std::size_t>(warp.exec, [&](std::size_t l) {
    if (cta.failed()) return;
    if (barrier == nullptr || address[l] != known) barrier = find_mbarrier(warp, address[l], l);
    if (barrier == nullptr) return;
    known = address[l];
    // A wait succeeds if the mbarrier's current phase is not the phase for which the thread waits.
    const std::uint64_t asked = op.is_parity ? warp.reg<const std::uint32_t>(op.phase)[l] & 1U
                                             : warp.reg<const std::uint64_t>(op.phase)[l] & 1U;
    if ((barrier->phase & 1U) == asked && !barrier->copies.empty()) {
      land_copies(warp, *barrier, address[l]);
      complete_phase_if_done(cta, *barrier, address[l]);
    }
    if ((barrier->phase & 1U) == asked) return;
    done |= 1U << l;
  });
  acquire_completed(warp, address, done);
  // While times are predicted, a try_wait that fails is executed again and does not return false,
  // because on a GPU the number of polls is arbitrary.
  if (cta.launch().count_memory && op.is_try) {
    if (done != warp.exec) {
      note_vain_wait(warp, address, warp.exec & ~done);
      warp.next_pc = warp.pc;
      --warp.counts[warp.pc];
      warp.yield = true;
      ++warp.backward_branches;
      return;
    }
    const auto lane = static_cast<std::size_t>(std::countr_zero(warp.exec));
    const MBarrier* first = find_mbarrier(warp, address[lane], lane);
    if (first != nullptr && !first->is_foreign) {
      cta.note_sync(warp, mbarrier_key(address[lane]), -1,
                    static_cast<std::int64_t>(first->phase) - 1);
    }
  }
  std::uint32_t& predicate = warp.predicate(op.dst);
  predicate = (predicate & ~warp.exec) | done;
  // A warp that polls with test_wait also lets other warps run, because below sm_90, kernels have
  // no try_wait and must poll.
  if (done != warp.exec) {
    warp.yield = true;
    note_vain_wait(warp, address, warp.exec & ~done);
  }
}

void exec_cp_async_mbarrier_arrive(Warp& warp, const Instr& in) {
  Cta& cta = *warp.cta;
  const auto& op = in.as<CopyArriveOperands>();
  const auto address = shared_addresses(warp, op.object);
  if (!check_objects(warp, op.object, address)) return;
  // cp.async.mbarrier.arrive arrives when the thread's copies complete; the virtual GPU completes
  // them immediately.
  for (std::uint32_t left = warp.exec; left != 0 && !cta.failed();) {
    const auto first = static_cast<std::size_t>(std::countr_zero(left));
    std::uint32_t same = 0;
    for_lanes<std::size_t>(left, [&](std::size_t l) {
      if (address[l] == address[first]) same |= 1U << l;
    });
    if (MBarrier* barrier = find_mbarrier(warp, address[first], first))
      finish_copies_for(warp, same, *barrier);
    left &= ~same;
  }
  for_lanes<std::size_t>(warp.exec, [&](std::size_t l) {
    MBarrier* barrier = cta.failed() ? nullptr : find_mbarrier(warp, address[l], l);
    if (barrier == nullptr) return;
    cta.note_sync(warp, mbarrier_key(address[l]), static_cast<std::int64_t>(barrier->phase), -1);
    if (op.increments) ++barrier->pending;
    if (!arrive(warp, cta, *barrier, 1, l, address[l])) return;
    complete_phase_if_done(cta, *barrier, address[l]);
  });
  cta.races().clocks().tick(warp.index);
}

}  // namespace evo::ptx
