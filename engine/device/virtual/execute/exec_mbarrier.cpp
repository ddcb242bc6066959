#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

#include "engine/device/virtual/execute/cta.hpp"
#include "engine/device/virtual/execute/exec_handlers.hpp"
#include "engine/device/virtual/memory/memory_access.hpp"

// mbarrier objects. The 8 bytes in shared memory hold a pattern of ours, so that a kernel which
// overwrites them, or uses one it never initialised, is caught. Clocks travel with the phases.

namespace evo::ptx {
namespace {

constexpr std::uint64_t kPattern = 0x6d62'6172'0000'0000ULL;

template <typename F>
void for_lanes(std::uint32_t mask, F&& body) {
  while (mask != 0) {
    const int lane = std::countr_zero(mask);
    mask &= mask - 1;
    body(static_cast<std::size_t>(lane));
  }
}

std::array<std::uint64_t, kWarpSize> object_addresses(const Warp& warp, const Instr& in) {
  auto address = lane_addresses(warp, in.src[0], in.imm, in.aux);
  for (std::uint64_t& a : address) {
    if (a - kSharedWindow < (1ULL << 32)) a -= kSharedWindow;
  }
  return address;
}

/// The object at `address`, or nullptr after reporting that there is none.
MBarrier* find_object(Warp& warp, std::uint64_t address, std::size_t lane) {
  Cta& cta = *warp.cta;
  const auto found = cta.mbarriers().find(static_cast<std::uint32_t>(address));
  std::uint64_t stored = 0;
  if (address + 8 <= cta.shared_bytes()) std::memcpy(&stored, cta.shared() + address, 8);
  if (found == cta.mbarriers().end() || stored != (kPattern | address)) {
    cta.fail(HazardKind::kBarrier, pc_of(warp), -1,
             "no initialised mbarrier at " + cta.name_shared(address) + " (" +
                 (found == cta.mbarriers().end() ? "never initialised" : "overwritten") + ") in " +
                 cta.name_thread(warp.index, static_cast<int>(lane)));
    return nullptr;
  }
  return &found->second;
}

void complete_phase_if_done(Cta& cta, MBarrier& barrier) {
  if (barrier.pending != 0 || barrier.transactions != 0) return;
  ++barrier.phase;
  barrier.pending = barrier.count;
  barrier.completed = barrier.arriving;
  barrier.arriving = VectorClock{};
  cta.note_progress();
}

bool arrive(Warp& warp, MBarrier& barrier, std::uint32_t count, std::size_t lane,
            std::uint64_t address) {
  Cta& cta = *warp.cta;
  if (count > barrier.pending) {
    cta.fail(HazardKind::kBarrier, pc_of(warp), -1,
             "mbarrier at " + cta.name_shared(address) + ": more arrivals than its count " +
                 std::to_string(barrier.count) + " in one phase, by " +
                 cta.name_thread(warp.index, static_cast<int>(lane)));
    return false;
  }
  const VectorClock& own = cta.races().clock(warp.index);
  for (std::size_t i = 0; i < own.size(); ++i)
    barrier.arriving[i] = std::max(barrier.arriving[i], own[i]);
  barrier.pending -= count;
  cta.note_progress();
  return true;
}

/// Object bytes must be in bounds and aligned.
bool check_objects(Warp& warp, const Instr& in,
                   const std::array<std::uint64_t, kWarpSize>& address) {
  return resolve(warp, in, Space::kShared, address, warp.exec, 8, AccessIntent::kReadWrite).ok;
}

}  // namespace

void exec_mbarrier_init(Warp& warp, const Instr& in) {
  Cta& cta = *warp.cta;
  const auto address = object_addresses(warp, in);
  const LaneAccess access =
      resolve(warp, in, Space::kShared, address, warp.exec, 8, AccessIntent::kWrite);
  if (!access.ok) return;
  const auto* count = warp.reg<const std::uint32_t>(in.src[1]);
  std::byte values[kWarpSize * 8] = {};
  for_lanes(warp.exec, [&](std::size_t l) {
    const std::uint64_t pattern = kPattern | address[l];
    std::memcpy(values + l * 8, &pattern, 8);
  });
  note_shared_write(warp, in, access, 8, values);
  for_lanes(warp.exec, [&](std::size_t l) {
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
  const auto address = object_addresses(warp, in);
  if (!check_objects(warp, in, address)) return;
  for_lanes(warp.exec, [&](std::size_t l) {
    if (find_object(warp, address[l], l) != nullptr)
      warp.cta->mbarriers().erase(static_cast<std::uint32_t>(address[l]));
  });
}

void exec_mbarrier_arrive(Warp& warp, const Instr& in) {
  Cta& cta = *warp.cta;
  const auto address = object_addresses(warp, in);
  if (!check_objects(warp, in, address)) return;
  // The object itself was written by its initialisation: using it needs that to be before.
  if (cta.launch().check) {
    LaneAccess access;
    access.shared = warp.exec;
    access.address = address;
    Instr strong = in;
    strong.aux = kStrongAccess;
    note_shared_read(warp, strong, access, 8);
  }
  const auto* operand =
      in.src[1] == kNoRegister ? nullptr : warp.reg<const std::uint32_t>(in.src[1]);
  for_lanes(warp.exec, [&](std::size_t l) {
    MBarrier* barrier = cta.failed() ? nullptr : find_object(warp, address[l], l);
    if (barrier == nullptr) return;
    const std::uint64_t phase = barrier->phase;
    if ((in.aux & kMbarExpect) != 0) barrier->transactions += operand[l];
    if ((in.aux & kMbarComplete) != 0) barrier->transactions -= operand[l];
    const std::uint32_t count = (in.aux & kMbarCount) != 0 ? operand[l] : 1;
    if ((in.aux & kMbarNoArrive) == 0 && !arrive(warp, *barrier, count, l, address[l])) return;
    if (in.dst != kNoRegister) warp.reg<std::uint64_t>(in.dst)[l] = phase;
    complete_phase_if_done(cta, *barrier);
  });
  cta.races().advance(warp.index);
}

void exec_mbarrier_wait(Warp& warp, const Instr& in) {
  Cta& cta = *warp.cta;
  const auto address = object_addresses(warp, in);
  if (!check_objects(warp, in, address)) return;
  std::uint32_t done = 0;
  for_lanes(warp.exec, [&](std::size_t l) {
    MBarrier* barrier = cta.failed() ? nullptr : find_object(warp, address[l], l);
    if (barrier == nullptr) return;
    // A phase is complete when the barrier's current phase is another one.
    const std::uint64_t asked = (in.aux & kMbarParity) != 0
                                    ? warp.reg<const std::uint32_t>(in.src[1])[l] & 1U
                                    : warp.reg<const std::uint64_t>(in.src[1])[l] & 1U;
    if ((barrier->phase & 1U) == asked) return;
    done |= 1U << l;
    cta.races().join(warp.index, barrier->completed);
  });
  std::uint32_t& predicate = warp.predicate(in.dst);
  predicate = (predicate & ~warp.exec) | done;
  if (done != warp.exec && (in.aux & kMbarTry) != 0) warp.yield = true;
}

void exec_cp_async_mbarrier_arrive(Warp& warp, const Instr& in) {
  Cta& cta = *warp.cta;
  const auto address = object_addresses(warp, in);
  if (!check_objects(warp, in, address)) return;
  // The arrival is made when the copies have landed; here they land at once.
  finish_copies(warp, warp.exec, -1);
  for_lanes(warp.exec, [&](std::size_t l) {
    MBarrier* barrier = cta.failed() ? nullptr : find_object(warp, address[l], l);
    if (barrier == nullptr) return;
    if ((in.aux & kMbarNoInc) == 0) ++barrier->pending;
    if (!arrive(warp, *barrier, 1, l, address[l])) return;
    complete_phase_if_done(cta, *barrier);
  });
  cta.races().advance(warp.index);
}

}  // namespace evo::ptx
