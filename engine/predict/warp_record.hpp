#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "engine/predict/branch_history.hpp"
#include "engine/predict/sync_event.hpp"

namespace evo {

/// The actions of a warp of an executed CTA, in order.
struct WarpRecord {
  std::vector<SyncEvent> syncs;  ///< the warp's arrivals and waits at barriers
  /// for each branch that the warp took at least once, by its instruction's index in the program
  std::unordered_map<std::uint32_t, BranchHistory> branches;
};

}  // namespace evo
