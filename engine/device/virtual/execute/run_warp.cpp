#include <bit>
#include <string>

#include "engine/device/virtual/checks/taint.hpp"
#include "engine/device/virtual/execute/cta.hpp"

// Runs warps, including divergent warps: every lane has its own position in the program. The group
// of lanes with the lowest position runs first, so that groups reconverge where the branches of
// structured code join. Groups that are at the same instruction merge. After kSpinLimit backward
// branches, a group in a loop lets another group run for kFairnessHold instructions.

namespace evo::ptx {
namespace {

constexpr int kSpinLimit = 256;
constexpr int kFairnessHold = 4096;
/// A warp checks whether all uninitialised registers have been overwritten when its turn begins and
/// each time it has executed this number of instructions in the turn.
constexpr std::uint64_t kTaintCheck = 64;

void select_group(Warp& warp, std::size_t chosen) {
  const LaneGroup group = warp.waiting[chosen];
  warp.waiting.erase(warp.waiting.begin() + static_cast<std::ptrdiff_t>(chosen));
  warp.active = group.mask;
  warp.next_pc = group.pc;
}

/// Selects the group that runs next: the one with the lowest position that does not wait at a .sync
/// instruction. If all groups wait at .sync instructions, one of them tries its instruction again.
void next_group(Warp& warp) {
  std::size_t best = warp.waiting.size();
  for (std::size_t i = 0; i < warp.waiting.size(); ++i) {
    if (warp.waiting[i].parked) continue;
    if (best == warp.waiting.size() || warp.waiting[i].pc < warp.waiting[best].pc) best = i;
  }
  if (best == warp.waiting.size()) best = 0;
  select_group(warp, best);
}

bool is_cta_barrier(const Instr& in) {
  return std::holds_alternative<BarrierOperands>(in.operands);
}

/// Reports that no group of the warp can continue, and names a .sync instruction at which a group
/// waits or, if there is none, a barrier of the CTA in divergent code.
void report_divergence(Warp& warp) {
  const Program& program = warp.cta->program();
  std::uint32_t pc = warp.pc;
  std::uint32_t lanes = warp.exec;
  int other = -1;
  for (const LaneGroup& group : warp.waiting) {
    if (group.pc == pc) continue;
    other = static_cast<int>(group.pc);
    if (!is_cta_barrier(program.code[pc]) || is_cta_barrier(program.code[group.pc])) continue;
    other = static_cast<int>(pc);
    pc = group.pc;
    lanes = group.mask;
  }
  const bool barrier = is_cta_barrier(program.code[pc]);
  std::string what = "only " + std::to_string(std::popcount(lanes)) + " of the " +
                     std::to_string(std::popcount(warp.alive)) + " running threads of warp " +
                     std::to_string(warp.index) + " reach the instruction";
  what += barrier ? " (barrier in divergent code)"
                  : "; every thread that its mask names (mma: all 32) must execute it or exit";
  warp.cta->fail(barrier ? HazardKind::kBarrier : HazardKind::kDivergence, static_cast<int>(pc),
                 other, what);
}

/// Makes the lanes of `exec` wait at their instruction, as the instruction's handler requested; the
/// other lanes of the group continue.
void park_group(Warp& warp) {
  warp.park = false;
  if (++warp.parks_in_a_row > static_cast<int>(warp.waiting.size()) + 2) {
    report_divergence(warp);
    return;
  }
  const std::uint32_t rest = warp.active & ~warp.exec;
  warp.waiting.push_back({warp.pc, warp.exec, true});
  if (rest != 0) {
    warp.active = rest;
    warp.next_pc = warp.pc + 1;
    warp.parks_in_a_row = 0;
    return;
  }
  next_group(warp);
}

/// Merges groups that are at the same instruction, and runs the group with the lowest position.
void regroup(Warp& warp) {
  for (std::size_t i = 0; i < warp.waiting.size();) {
    if (warp.waiting[i].pc == warp.pc) {
      warp.active |= warp.waiting[i].mask;
      warp.waiting.erase(warp.waiting.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
  if (warp.waiting.empty()) {
    warp.fairness_hold = 0;
    warp.backward_branches = 0;
    return;
  }
  if (warp.fairness_hold > 0) {
    --warp.fairness_hold;
    return;
  }
  const bool give_way = warp.backward_branches > kSpinLimit;
  std::size_t best = warp.waiting.size();
  for (std::size_t i = 0; i < warp.waiting.size(); ++i) {
    const LaneGroup& group = warp.waiting[i];
    if (group.parked) continue;
    const bool lower = best == warp.waiting.size() || group.pc < warp.waiting[best].pc;
    if (lower && (give_way || group.pc < warp.pc)) best = i;
  }
  if (best == warp.waiting.size()) return;
  if (give_way) {
    warp.fairness_hold = kFairnessHold;
    warp.backward_branches = 0;
  }
  const LaneGroup leaving{warp.pc, warp.active, false};
  select_group(warp, best);
  warp.waiting.push_back(leaving);
  warp.pc = warp.next_pc;
}

void leave_exited_group(Warp& warp) {
  if (warp.waiting.empty()) {
    warp.state = WarpState::kDone;
    warp.cta->on_exit(warp);
    return;
  }
  warp.parks_in_a_row = 0;
  next_group(warp);
}

}  // namespace

bool converge(Warp& warp, std::uint32_t needed) {
  needed &= warp.alive;
  if ((warp.exec & needed) == needed) return true;
  warp.park = true;
  return false;
}

std::uint64_t run_warp(Warp& warp, std::uint64_t budget) {
  const Instr* const code = warp.code;
  std::uint64_t* const counts = warp.counts;
  std::uint64_t done = 0;
  warp.yield = false;
  while (done < budget) {
    if (warp.tainted && done % kTaintCheck == 0) drop_stale_taint(warp);
    if (!warp.waiting.empty()) regroup(warp);
    const Instr& in = code[warp.pc];
    std::uint32_t mask = warp.active;
    if (in.guard != kNoRegister) {
      const std::uint32_t guard = warp.predicate(in.guard);
      mask &= in.guard_negated ? ~guard : guard;
    }
    if (warp.tainted && in.guard != kNoRegister) check_guard_taint(warp, in);
    warp.next_pc = warp.pc + 1;
    ++done;
    ++counts[warp.pc];
    if (mask != 0) {
      warp.exec = mask;
      if (warp.tainted) propagate_taint(warp, in);
      in.fn(warp, in);
      if (warp.park) {
        park_group(warp);
      } else {
        warp.parks_in_a_row = 0;
      }
      if (warp.active == 0) leave_exited_group(warp);
      if (warp.cta->failed()) break;
      if (warp.state != WarpState::kReady) {
        warp.pc = warp.next_pc;
        break;
      }
    }
    warp.pc = warp.next_pc;
    if (warp.yield) break;
  }
  warp.executed += done;
  return done;
}

}  // namespace evo::ptx
