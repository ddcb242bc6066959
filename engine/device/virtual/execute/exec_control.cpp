#include "engine/device/virtual/execute/exec_control.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "engine/device/virtual/execute/cta.hpp"
#include "engine/device/virtual/execute/lanes.hpp"

// Executes branches, exit, traps, clock reads, and other instructions that do not process data.

namespace evo::ptx {
namespace {

/// Makes the lanes of `taken` branch to `target`. The other lanes that execute the branch continue
/// at the next instruction.
void diverge(Warp& warp, std::uint32_t taken, std::uint32_t target) {
  const std::uint32_t rest = warp.active & ~taken;
  if (taken == 0) return;
  if (target <= warp.pc) ++warp.backward_branches;
  // In the counts for the time model, a backward branch counts as taken if at least one lane takes
  // it. A forward branch counts as taken only if all lanes take it, because only then does the warp
  // skip instructions.
  if (warp.taken != nullptr && (rest == 0 || target <= warp.pc)) {
    ++warp.taken[warp.pc];
    warp.cta->note_taken(warp);
  }
  if (rest == 0) {
    warp.next_pc = target;
    return;
  }
  const std::uint32_t fall_through = warp.pc + 1;
  if (target == fall_through) return;
  if (target < fall_through) {
    warp.waiting.push_back({fall_through, rest, false});
    warp.active = taken;
    warp.next_pc = target;
  } else {
    warp.waiting.push_back({target, taken, false});
    warp.active = rest;
  }
}

}  // namespace

void exec_branch(Warp& warp, const Instr& in) {
  diverge(warp, warp.exec, in.as<BranchOperands>().target);
}

void exec_indexed_branch(Warp& warp, const Instr& in) {
  const auto& op = in.as<IndexedBranchOperands>();
  const auto* index = warp.reg<const std::uint32_t>(op.index);
  const auto* targets = warp.cta->program().branch_targets.data() + op.targets.first;
  std::uint32_t left = warp.exec;
  while (left != 0) {
    const int lane = std::countr_zero(left);
    const std::uint32_t value = index[lane];
    std::uint32_t same = 0;
    for (int l = 0; l < kWarpSize; ++l) {
      if (((left >> l) & 1U) != 0 && index[l] == value) same |= 1U << l;
    }
    left &= ~same;
    if (value >= op.targets.count) {
      warp.cta->fail(HazardKind::kInvalidInstruction, pc_of(warp), -1,
                     "branch index " + std::to_string(value) + ", but the branch has " +
                         std::to_string(op.targets.count) + " targets, in " +
                         warp.cta->names().thread(warp.index, lane));
      return;
    }
    const std::uint32_t target = targets[value];
    if (same == warp.active) {
      warp.next_pc = target;
    } else {
      warp.waiting.push_back({target, same, false});
      warp.active &= ~same;
    }
  }
}

void exec_exit(Warp& warp, const Instr&) {
  warp.active &= ~warp.exec;
  warp.alive &= ~warp.exec;
  warp.cta->scheduler().note_progress();
}

void exec_nop(Warp&, const Instr&) {}

void exec_grid_wait(Warp& warp, const Instr&) {
  Cta& cta = *warp.cta;
  const VectorClock& clock = cta.races().clocks().of(warp.index);
  cta.grid_wait().waited(warp.index, warp.exec, clock[static_cast<std::size_t>(warp.index)]);
}

void exec_trap(Warp& warp, const Instr&) {
  warp.cta->fail(
      HazardKind::kTrap, pc_of(warp), -1,
      "executed by " + warp.cta->names().thread(warp.index, std::countr_zero(warp.exec)));
}

void exec_nanosleep(Warp& warp, const Instr& in) {
  if (warp.cta->launch().count_memory) {
    constexpr std::uint32_t kMost = 1'000'000;  // the PTX ISA's upper limit
    const auto* ns = warp.reg<const std::uint32_t>(in.as<SleepOperands>().ns);
    std::uint32_t longest = 0;
    for_lanes(warp.exec, [&](int lane) { longest = std::max(longest, std::min(ns[lane], kMost)); });
    warp.cta->memory_counts()[warp.pc].sleep_ns += longest;
  }
  warp.yield = true;
  if (!warp.waiting.empty()) warp.backward_branches += 64;
}

void exec_clock(Warp& warp, const Instr& in) {
  const std::uint64_t passed = warp.cta->scheduler().executed() + warp.executed;
  const auto& op = in.as<ClockOperands>();
  const bool is_time = op.clock == Clock::kGlobalTimer || op.clock == Clock::kGlobalTimerLow;
  const DeviceClocks& clocks = warp.cta->launch().clocks;
  const std::uint64_t now = (is_time ? clocks.nanoseconds() : clocks.clock()) + passed;
  const bool is_wide = op.clock == Clock::kClock64 || op.clock == Clock::kGlobalTimer;
  for_lanes(warp.exec, [&](int lane) {
    if (is_wide) {
      warp.reg<std::uint64_t>(op.dst)[lane] = now;
    } else {
      warp.reg<std::uint32_t>(op.dst)[lane] =
          static_cast<std::uint32_t>(op.clock == Clock::kClockHigh ? now >> 32 : now);
    }
  });
}

void exec_activemask(Warp& warp, const Instr& in) {
  auto* dst = warp.reg<std::uint32_t>(in.as<ActiveMaskOperands>().dst);
  for_lanes(warp.exec, [&](int lane) { dst[lane] = warp.exec; });
}

void exec_unsupported(Warp& warp, const Instr&) {
  warp.cta->fail(HazardKind::kInvalidInstruction, pc_of(warp), -1,
                 warp.cta->program().info[warp.pc].unsupported);
}

}  // namespace evo::ptx
