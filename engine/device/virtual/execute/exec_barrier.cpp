#include "engine/device/virtual/execute/exec_barrier.hpp"

#include <bit>
#include <string>

#include "engine/device/virtual/execute/cta.hpp"
#include "engine/device/virtual/execute/lanes.hpp"
#include "engine/device/virtual/execute/member_groups.hpp"

// Executes bar.sync, bar.arrive and bar.red with the 16 named barriers of a CTA, and bar.warp.sync.
// Each arrival of a warp counts as 32 threads, even if the warp has fewer lanes.

namespace evo::ptx {
namespace {

/// The value of a register in the first of `lanes`; 0 for kNoRegister.
std::uint32_t value_of(const Warp& warp, std::uint32_t reg, std::uint32_t lanes) {
  return reg == kNoRegister ? 0 : warp.reg<const std::uint32_t>(reg)[std::countr_zero(lanes)];
}

/// The lanes that wait at other bar.warp.sync instructions with the same member mask: since sm_70,
/// lanes need not execute the same instruction (PTX ISA).
std::uint32_t at_other_warp_barriers(const Warp& warp, std::uint32_t members) {
  std::uint32_t found = 0;
  for (const LaneGroup& group : warp.waiting) {
    const auto* op = std::get_if<WarpBarrierOperands>(&warp.code[group.pc].operands);
    if (op == nullptr || !group.parked) continue;
    const auto* masks = warp.reg<const std::uint32_t>(op->members);
    for_lanes(group.mask, [&](int lane) { found |= (masks[lane] == members ? 1U : 0U) << lane; });
  }
  return found;
}

/// The lanes that wait at other barrier.sync instructions (without .aligned) on the same barrier
/// with the same number of threads.
std::uint32_t at_other_barriers(const Warp& warp, const BarrierOperands& own) {
  if (own.is_aligned || own.op != BarrierOp::kSync) return 0;
  std::uint32_t found = 0;
  for (const LaneGroup& group : warp.waiting) {
    const auto* op = std::get_if<BarrierOperands>(&warp.code[group.pc].operands);
    if (op == nullptr || !group.parked || op->is_aligned || op->op != own.op) continue;
    const bool is_same =
        value_of(warp, op->id, group.mask) == value_of(warp, own.id, warp.exec) &&
        value_of(warp, op->count, group.mask) == value_of(warp, own.count, warp.exec);
    if (is_same) found |= group.mask;
  }
  return found;
}

/// Checks the barrier number and the number of threads of an arrival, and that the warp has not yet
/// arrived in this phase. If a check fails, ends the launch and returns false.
bool check_arrival(Warp& warp, std::uint32_t id, std::uint32_t count) {
  const auto fail = [&](std::string what, int other) {
    warp.cta->fail(HazardKind::kBarrier, pc_of(warp), other, std::move(what));
    return false;
  };
  const std::string name = "barrier " + std::to_string(id);
  const std::string who = " in warp " + std::to_string(warp.index);
  if (id >= NamedBarriers::kCount) return fail(name + " does not exist (0 to 15)" + who, -1);
  const NamedBarrier& barrier = warp.cta->barriers().at(id);
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
                    std::to_string(barrier.expected) +
                    " of warps that wait there already (0 means all threads)",
                barrier.first_pc);
  }
  if (((barrier.warps_in >> warp.index) & 1U) != 0) {
    return fail(name + ": warp " + std::to_string(warp.index) + " arrives twice in one phase",
                barrier.first_pc);
  }
  return true;
}

}  // namespace

void exec_barrier(Warp& warp, const Instr& in) {
  const auto& op = in.as<BarrierOperands>();
  const std::uint32_t elsewhere = at_other_barriers(warp, op);
  if (!converge(warp, ~elsewhere)) return;
  Cta& cta = *warp.cta;
  const std::uint32_t id = value_of(warp, op.id, warp.exec);
  const std::uint32_t count = value_of(warp, op.count, warp.exec);
  if (!check_arrival(warp, id, count)) return;
  if (op.count != kNoRegister && count == 0) {
    cta.fail(HazardKind::kBarrier, pc_of(warp), -1,
             "barrier " + std::to_string(id) + " with a thread count of 0");
    return;
  }
  cta.scheduler().note_progress();
  const std::int64_t phase = cta.barriers().at(id).phase;
  cta.note_sync(warp, id, phase, op.op == BarrierOp::kArrive ? -1 : phase);
  if (elsewhere != 0) release_parked(warp, elsewhere);
  cta.barriers().arrive(id, count, warp, in);
}

void exec_warp_barrier(Warp& warp, const Instr& in) {
  for_member_groups(
      warp, in.as<WarpBarrierOperands>().members, [] {},
      [&](std::uint32_t members) { return at_other_warp_barriers(warp, members); });
}

}  // namespace evo::ptx
