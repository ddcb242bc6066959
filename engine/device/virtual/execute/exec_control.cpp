#include <bit>
#include <string>

#include "engine/device/virtual/checks/taint.hpp"
#include "engine/device/virtual/execute/cta.hpp"
#include "engine/device/virtual/execute/exec_handlers.hpp"

// Branches, exit, traps, clocks and what else touches no data.

namespace evo::ptx {
namespace {

/// The lanes of `taken` go to `target`; the rest of the group falls through.
void diverge(Warp& warp, std::uint32_t taken, std::uint32_t target) {
  const std::uint32_t rest = warp.active & ~taken;
  if (taken == 0) return;
  if (target <= warp.pc) ++warp.backward_branches;
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
  diverge(warp, warp.exec, static_cast<std::uint32_t>(in.imm));
}

void exec_indexed_branch(Warp& warp, const Instr& in) {
  const auto* index = warp.reg<const std::uint32_t>(in.src[0]);
  const auto& extra = warp.cta->program().extra;
  std::uint32_t left = warp.exec;
  while (left != 0) {
    const int lane = std::countr_zero(left);
    const std::uint32_t value = index[lane];
    std::uint32_t same = 0;
    for (int l = 0; l < kWarpSize; ++l) {
      if (((left >> l) & 1U) != 0 && index[l] == value) same |= 1U << l;
    }
    left &= ~same;
    if (value >= in.extra_count) {
      warp.cta->fail(HazardKind::kInvalidInstruction, pc_of(warp), -1,
                     "branch index " + std::to_string(value) + " of " +
                         std::to_string(in.extra_count) + " targets in " +
                         warp.cta->name_thread(warp.index, lane));
      return;
    }
    const std::uint32_t target = extra[in.extra + value];
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
  warp.cta->note_progress();
}

void exec_nop(Warp&, const Instr&) {}

void exec_trap(Warp& warp, const Instr&) {
  warp.cta->fail(HazardKind::kTrap, pc_of(warp), -1,
                 "executed by " + warp.cta->name_thread(warp.index, std::countr_zero(warp.exec)));
}

void exec_nanosleep(Warp& warp, const Instr&) {
  warp.yield = true;
  if (!warp.waiting.empty()) warp.backward_branches += 64;
}

void exec_clock(Warp& warp, const Instr& in) {
  const std::uint64_t now = warp.cta->executed() + warp.executed;
  for (int lane = 0; lane < kWarpSize; ++lane) {
    if (((warp.exec >> lane) & 1U) == 0) continue;
    if (in.aux == 1 || in.aux == 2) {
      warp.reg<std::uint64_t>(in.dst)[lane] = now;
    } else {
      warp.reg<std::uint32_t>(in.dst)[lane] =
          static_cast<std::uint32_t>(in.aux == 3 ? now >> 32 : now);
    }
  }
}

void exec_activemask(Warp& warp, const Instr& in) {
  for (int lane = 0; lane < kWarpSize; ++lane) {
    if (((warp.exec >> lane) & 1U) != 0) warp.reg<std::uint32_t>(in.dst)[lane] = warp.exec;
  }
}

void exec_unsupported(Warp& warp, const Instr&) {
  warp.cta->fail(HazardKind::kInvalidInstruction, pc_of(warp), -1,
                 warp.cta->program().info[warp.pc].unsupported);
}

}  // namespace evo::ptx
