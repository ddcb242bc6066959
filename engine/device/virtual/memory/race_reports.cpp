#include <string>

#include "engine/device/virtual/memory/memory_access.hpp"

// Composes the reports about races in shared memory.

namespace evo::ptx {
namespace {

bool is_bulk_copy(const Cta& cta, int pc) {
  return std::holds_alternative<BulkOperands>(
      cta.program().code[static_cast<std::size_t>(pc)].operands);
}

bool is_async_store(const Cta& cta, int pc) {
  return std::holds_alternative<AsyncStoreOperands>(
      cta.program().code[static_cast<std::size_t>(pc)].operands);
}

bool is_product(const Cta& cta, int pc) {
  return cta.program().info[static_cast<std::size_t>(pc)].opcode == Opcode::kWgmma;
}

HazardKind kind_of(const Warp& warp, const Conflict& conflict) {
  if (conflict.missing_proxy_fence) return HazardKind::kProxyFence;
  const bool is_after_copy =
      conflict.other_warp >= kMaxWarps && !is_async_store(*warp.cta, conflict.other_pc);
  if (conflict.other_is_async || is_after_copy || is_bulk_copy(*warp.cta, pc_of(warp)) ||
      is_bulk_copy(*warp.cta, conflict.other_pc))
    return HazardKind::kAsyncRace;
  return is_product(*warp.cta, pc_of(warp)) || is_product(*warp.cta, conflict.other_pc)
             ? HazardKind::kProductRace
             : HazardKind::kSharedRace;
}

/// The second half of a report: how the current access relates to the other access.
std::string relation_text(const Cta& cta, const Conflict& conflict) {
  if (conflict.other_warp >= kMaxWarps) {
    return std::string(" is not ordered after the ") +
           (is_async_store(cta, conflict.other_pc) ? "st.async"
            : is_bulk_copy(cta, conflict.other_pc) ? "bulk copy"
                                                   : "cp.async") +
           (conflict.missing_lane_order ? " to it (another lane of the warp waited for its "
                                          "mbarrier; required: __syncwarp() "
                                          "after the wait)"
                                        : " to it (no wait for the phase of its mbarrier)");
  }
  const std::string other = cta.names().thread(conflict.other_warp, conflict.other_lane);
  if (!conflict.other_is_write && is_bulk_copy(cta, conflict.other_pc)) {
    return " is not ordered after the bulk copy of " + other +
           " that reads it (no wait_group.read, or no barrier after it)";
  }
  if (is_product(cta, conflict.other_pc)) {
    return " is not ordered after the wgmma of warp " + std::to_string(conflict.other_warp) +
           " that reads it (no wait_group, or no barrier after it)";
  }
  if (conflict.missing_proxy_fence) {
    return ", which " + other + " wrote, with no fence.proxy.async between";
  }
  if (conflict.other_is_async)
    return " while the cp.async of " + other + " to it has not been waited for";
  return std::string(" is not ordered after the ") + (conflict.other_is_write ? "write" : "read") +
         " by " + other +
         (conflict.same_warp ? " (same warp: no .sync instruction between)"
          : conflict.missing_lane_order
              ? " (one lane of a warp arrived, waited or exchanged a flag "
                "for others; required: __syncwarp() with these lanes)"
              : " (no barrier between)");
}

}  // namespace

void report_conflicts(Warp& warp, const RaceChecker::Result& result, const char* verb) {
  Cta& cta = *warp.cta;
  for (const Conflict& conflict : result.conflicts) {
    const HazardKind kind = kind_of(warp, conflict);
    if (cta.is_reported(kind, pc_of(warp), conflict.other_pc)) continue;
    cta.report(kind, pc_of(warp), conflict.other_pc,
               std::string(verb) + " of " + cta.names().shared(conflict.address) + " by " +
                   cta.names().thread(warp.index, conflict.lane) + relation_text(cta, conflict));
  }
}

}  // namespace evo::ptx
