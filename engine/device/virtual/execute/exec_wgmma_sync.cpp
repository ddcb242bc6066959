#include <algorithm>
#include <string>

#include "engine/device/virtual/execute/cta.hpp"
#include "engine/device/virtual/execute/exec_wgmma.hpp"

// Executes wgmma.fence, wgmma.commit_group and setmaxnreg, and checks the use of a wgmma's
// registers.

namespace evo::ptx {
namespace {

void report_touch(Warp& warp, std::uint32_t product_pc, const char* what) {
  const bool in_flight = std::ranges::any_of(
      warp.products, [&](const PendingProduct& p) { return p.pc == product_pc; });
  if (!in_flight) return;
  warp.cta->report(HazardKind::kProductRace, pc_of(warp), static_cast<int>(product_pc),
                   std::string(what) + " of a wgmma that warp " + std::to_string(warp.index) +
                       " has not waited for");
}

}  // namespace

void exec_wgmma_fence(Warp& warp, const Instr&) {
  if (converge(warp, kAllLanes)) sync_lanes(warp);
}

void exec_wgmma_commit(Warp& warp, const Instr&) {
  if (!converge(warp, kAllLanes)) return;
  sync_lanes(warp);
  ++warp.product_groups;
}

void exec_checked(Warp& warp, const Instr& in) {
  const ProductCheck& check = warp.cta->program().product_checks.at(warp.pc);
  if (warp.cta->launch().check) {
    for (const std::uint32_t product : check.reads)
      report_touch(warp, product, "reads an accumulator");
    for (const std::uint32_t product : check.writes)
      report_touch(warp, product, "overwrites an accumulator or a fragment of A");
    if (check.unfenced) {
      warp.cta->report(HazardKind::kProductFence, pc_of(warp), -1,
                       "registers of the wgmma of warp " + std::to_string(warp.index) +
                           " were written, and no wgmma.fence came after");
    }
  }
  check.original(warp, in);
}

void exec_setmaxnreg(Warp& warp, const Instr& in) {
  if (!converge(warp, kAllLanes)) return;
  sync_lanes(warp);
  const auto& op = in.as<SetmaxnregOperands>();
  const std::uint32_t wanted = op.registers;
  Cta& cta = *warp.cta;
  if (warp.registers == 0) return;  // the number of registers at launch is unknown
  const bool more = op.increases;
  // setmaxnreg.inc has no effect if the warp already has at least the requested number of
  // registers, and setmaxnreg.dec has none if the warp has at most this number.
  if (more ? wanted <= warp.registers : wanted >= warp.registers) return;
  if (!more) {
    cta.register_pool().give(warp.registers - wanted);
    cta.wake_retrying();
  } else if (!cta.register_pool().take(wanted - warp.registers)) {
    cta.retry_later(warp, in);
    return;
  }
  warp.registers = wanted;
  cta.scheduler().note_progress();
}

}  // namespace evo::ptx
