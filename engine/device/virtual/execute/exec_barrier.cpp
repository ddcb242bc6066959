#include "engine/device/virtual/execute/exec_barrier.hpp"

#include <bit>
#include <string>

#include "engine/device/virtual/execute/cta.hpp"
#include "engine/device/virtual/execute/member_groups.hpp"

// Executes bar.sync, bar.arrive and bar.red with the 16 named barriers of a CTA, and bar.warp.sync.
// Each arrival of a warp counts as 32 threads, even if the warp has fewer lanes.

namespace evo::ptx {
namespace {

std::uint32_t lane_value(const Warp& warp, std::uint32_t reg) {
  return warp.reg<const std::uint32_t>(reg)[std::countr_zero(warp.exec)];
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
  if (!converge(warp, kAllLanes)) return;
  Cta& cta = *warp.cta;
  const auto& op = in.as<BarrierOperands>();
  const std::uint32_t id = lane_value(warp, op.id);
  const std::uint32_t count = op.count == kNoRegister ? 0 : lane_value(warp, op.count);
  if (!check_arrival(warp, id, count)) return;
  if (op.count != kNoRegister && count == 0) {
    cta.fail(HazardKind::kBarrier, pc_of(warp), -1,
             "barrier " + std::to_string(id) + " with a thread count of 0");
    return;
  }
  cta.scheduler().note_progress();
  const std::int64_t phase = cta.barriers().at(id).phase;
  cta.note_sync(warp, id, phase, op.op == BarrierOp::kArrive ? -1 : phase);
  cta.barriers().arrive(id, count, warp, in);
}

void exec_warp_barrier(Warp& warp, const Instr& in) {
  for_member_groups(warp, in.as<WarpBarrierOperands>().members, [] {});
}

}  // namespace evo::ptx
