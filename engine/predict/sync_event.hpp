#pragma once

#include <cstdint>

namespace evo {

/// An action of a warp at a barrier: the arrivals that it made, and the phase for which it waited.
struct SyncEvent {
  std::uint32_t line = 0;  ///< line of the PTX
  /// 0 to 15 is the number of a named barrier; larger values are the address of an mbarrier plus 16
  std::uint32_t barrier = 0;
  std::uint32_t count = 1;    ///< number of arriving lanes; at a named barrier, 1 for each warp
  std::int64_t arrives = -1;  ///< phase of the barrier, from 0; -1: no arrival
  std::int64_t awaits = -1;   ///< the warp waits for the end of this phase; -1: no wait
};

}  // namespace evo
