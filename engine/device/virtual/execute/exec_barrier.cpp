#include "engine/device/virtual/execute/exec_barrier.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "engine/device/virtual/execute/cta.hpp"
#include "engine/device/virtual/execute/lanes.hpp"

// bar.sync, bar.arrive, bar.red with the 16 named barriers of a CTA, and bar.warp.sync. A barrier
// counts warps: each arrival stands for 32 threads, whatever lanes of the warp exist.

namespace evo::ptx {
namespace {

constexpr std::uint32_t kBarrierCount = 16;

std::uint32_t lane_value(const Warp& warp, std::uint32_t reg) {
  return warp.reg<const std::uint32_t>(reg)[std::countr_zero(warp.exec)];
}

/// False when the arrival was wrong and the launch has been stopped.
bool check_arrival(Warp& warp, std::uint32_t id, std::uint32_t count, const NamedBarrier& barrier) {
  const auto fail = [&](std::string what, int other) {
    warp.cta->fail(HazardKind::kBarrier, pc_of(warp), other, std::move(what));
    return false;
  };
  const std::string name = "barrier " + std::to_string(id);
  const std::string who = " in warp " + std::to_string(warp.index);
  if (id >= kBarrierCount) return fail(name + " does not exist (0 to 15)" + who, -1);
  if (count % kWarpSize != 0) {
    return fail(name + ": count " + std::to_string(count) + " is not a multiple of 32" + who, -1);
  }
  if (count > 1024)
    return fail(name + ": count " + std::to_string(count) + " is above 1024" + who, -1);
  const auto warps = static_cast<std::uint32_t>(warp.cta->warps().size());
  if (count > warps * kWarpSize) {
    return fail(name + ": count " + std::to_string(count) + " can never be reached by the " +
                    std::to_string(warps) + " warps of the CTA" + who,
                -1);
  }
  if (barrier.in_use && barrier.expected != count) {
    return fail(name + ": count " + std::to_string(count) + who + " does not match the count " +
                    std::to_string(barrier.expected) + " of warps already there (0: all threads)",
                barrier.first_pc);
  }
  if (((barrier.warps_in >> warp.index) & 1U) != 0) {
    return fail(name + ": warp " + std::to_string(warp.index) + " arrives twice in one phase",
                barrier.first_pc);
  }
  return true;
}

void reduce(Warp& warp, const BarrierOperands& op, NamedBarrier& barrier) {
  std::uint32_t predicate = warp.predicate(op.predicate);
  if (op.negated) predicate = ~predicate;
  barrier.reduced_count += static_cast<std::uint32_t>(std::popcount(predicate & warp.exec));
  barrier.reduced_and = barrier.reduced_and && (predicate & warp.exec) == warp.exec;
  barrier.reduced_or = barrier.reduced_or || (predicate & warp.exec) != 0;
}

void write_reduction(Warp& warp, const BarrierOperands& op, const NamedBarrier& barrier) {
  if (op.op == BarrierOp::kPopc) {
    for_lanes(warp.exec,
              [&](int lane) { warp.reg<std::uint32_t>(op.dst)[lane] = barrier.reduced_count; });
  } else if (op.op == BarrierOp::kAnd || op.op == BarrierOp::kOr) {
    const bool value = op.op == BarrierOp::kAnd ? barrier.reduced_and : barrier.reduced_or;
    std::uint32_t& dst = warp.predicate(op.dst);
    dst = value ? dst | warp.exec : dst & ~warp.exec;
  }
}

}  // namespace

void exec_barrier(Warp& warp, const Instr& in) {
  if (!converge(warp, kAllLanes)) return;
  Cta& cta = *warp.cta;
  const auto& op = in.as<BarrierOperands>();
  const std::uint32_t id = lane_value(warp, op.id);
  const std::uint32_t count = op.count == kNoRegister ? 0 : lane_value(warp, op.count);
  static constexpr NamedBarrier kNone{};
  if (!check_arrival(warp, id, count, id < kBarrierCount ? cta.barriers()[id] : kNone)) return;
  if (op.count != kNoRegister && count == 0) {
    cta.fail(HazardKind::kBarrier, pc_of(warp), -1, "barrier " + std::to_string(id) + ": count 0");
    return;
  }
  NamedBarrier& barrier = cta.barriers()[id];
  if (!barrier.in_use) {
    barrier = NamedBarrier{};
    barrier.in_use = true;
    barrier.expected = count;
    barrier.first_pc = pc_of(warp);
  }
  barrier.arrived += kWarpSize;
  barrier.warps_in |= 1U << warp.index;
  const VectorClock& own = cta.races().clock(warp.index);
  for (std::size_t i = 0; i < own.size(); ++i)
    barrier.clock[i] = std::max(barrier.clock[i], own[i]);
  cta.races().advance(warp.index);
  cta.note_progress();
  if (op.predicate != kNoRegister) reduce(warp, op, barrier);
  if (op.op != BarrierOp::kArrive) {
    warp.state = WarpState::kBlocked;
    warp.barrier = static_cast<int>(id);
    warp.blocked_at = &in;
    barrier.blocked.push_back(warp.index);
  }
  cta.finish_barrier_if_complete(static_cast<int>(id));
}

void Cta::finish_barrier_if_complete(int id) {
  const NamedBarrier& barrier = barriers_[static_cast<std::size_t>(id)];
  if (!barrier.in_use) return;
  std::uint32_t expected = barrier.expected;
  if (expected == 0) {
    for (const Warp& warp : warps_) expected += warp.state == WarpState::kDone ? 0 : kWarpSize;
    // A warp that arrived and then exited still counts once.
    for (const Warp& warp : warps_) {
      if (warp.state == WarpState::kDone && ((barrier.warps_in >> warp.index) & 1U) != 0)
        expected += kWarpSize;
    }
  }
  if (barrier.arrived >= expected) release_barrier(id);
}

void Cta::release_barrier(int id) {
  NamedBarrier& barrier = barriers_[static_cast<std::size_t>(id)];
  for (const int index : barrier.blocked) {
    Warp& warp = warps_[static_cast<std::size_t>(index)];
    races_.join(index, barrier.clock);
    write_reduction(warp, warp.blocked_at->as<BarrierOperands>(), barrier);
    warp.state = WarpState::kReady;
    warp.barrier = -1;
  }
  barrier = NamedBarrier{};
}

void exec_warp_barrier(Warp& warp, const Instr& in) {
  const std::uint32_t mask = lane_value(warp, in.as<WarpBarrierOperands>().members);
  if (!converge(warp, mask)) return;
  sync_lanes(warp);
}

}  // namespace evo::ptx
