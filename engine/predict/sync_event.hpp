#pragma once

#include <cstdint>

namespace evo {

/// A warp's action at a barrier: its arrivals, and the phase for which it waited.
struct SyncEvent {
  std::uint32_t line = 0;  ///< line of the PTX
  /// 0 to 15: a named barrier; otherwise the address of an mbarrier + 16
  std::uint32_t barrier = 0;
  std::uint32_t count = 1;    ///< arrivals: of lanes, or one per warp at a named barrier
  std::int64_t arrives = -1;  ///< in this phase of the barrier, from 0; -1: no arrival
  std::int64_t awaits = -1;   ///< until this phase is complete; -1: no wait
};

}  // namespace evo
