#pragma once

#include <cstdint>

namespace evo {

/// A warp at a barrier: what it did for others to go on, and what it had to wait for.
struct SyncEvent {
  std::uint32_t line = 0;     ///< of the PTX
  std::uint32_t barrier = 0;  ///< 0 to 15: a named barrier; else the address of an mbarrier + 16
  std::uint32_t count = 1;    ///< arrivals: of lanes, or one of a warp at a named barrier
  std::int64_t arrives = -1;  ///< in this phase of the barrier, from 0; -1: it does not
  std::int64_t awaits = -1;   ///< until this phase is complete; -1: it does not wait
};

}  // namespace evo
