#include "engine/device/virtual/execute/named_barriers.hpp"

#include <algorithm>
#include <bit>

#include "engine/device/virtual/execute/exec_barrier.hpp"
#include "engine/device/virtual/execute/lanes.hpp"

namespace evo::ptx {
namespace {

void start_phase(NamedBarrier& barrier, std::int64_t phase) {
  barrier = NamedBarrier();
  barrier.phase = phase;
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

void NamedBarriers::arrive(std::uint32_t id, std::uint32_t count, Warp& warp, const Instr& in) {
  const auto& op = in.as<BarrierOperands>();
  NamedBarrier& barrier = barriers_[id];
  if (!barrier.in_use) {
    start_phase(barrier, barrier.phase);
    barrier.in_use = true;
    barrier.expected = count;
    barrier.first_pc = static_cast<int>(warp.pc);
  }
  barrier.arrived += kWarpSize;
  barrier.warps_in |= 1U << warp.index;
  barrier.clock.join(races_.clocks().of(warp.index));
  races_.clocks().tick(warp.index);
  if (op.predicate != kNoRegister) reduce(warp, op, barrier);
  if (op.op != BarrierOp::kArrive) {
    warp.state = WarpState::kBlocked;
    warp.barrier = static_cast<int>(id);
    warp.blocked_at = &in;
    barrier.blocked.push_back(warp.index);
  }
  release_if_complete(barrier);
}

void NamedBarriers::release_complete() {
  for (NamedBarrier& barrier : barriers_) release_if_complete(barrier);
}

void NamedBarriers::release_if_complete(NamedBarrier& barrier) {
  if (!barrier.in_use) return;
  std::uint32_t expected = barrier.expected;
  if (expected == 0) {
    // If a barrier waits for the whole CTA, a warp that arrived and then exited still counts.
    for (const Warp& warp : warps_) {
      const bool has_arrived = ((barrier.warps_in >> warp.index) & 1U) != 0;
      if (warp.state != WarpState::kDone || has_arrived) expected += kWarpSize;
    }
  }
  if (barrier.arrived < expected) return;
  for (const int index : barrier.blocked) {
    Warp& warp = warps_[static_cast<std::size_t>(index)];
    races_.clocks().acquire(index, warp.alive, warp.alive, barrier.clock);
    write_reduction(warp, warp.blocked_at->as<BarrierOperands>(), barrier);
    warp.state = WarpState::kReady;
    warp.barrier = -1;
  }
  start_phase(barrier, barrier.phase + 1);
}

}  // namespace evo::ptx
