#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace evo {

/// The reasons why a warp does not issue its next instruction. The text in brackets is the name of
/// a reason in Nsight Compute.
enum class Wait : std::uint8_t {
  kSelected,      ///< the warp issues the instruction
  kFixedLatency,  ///< the result of an instruction with fixed latency [wait]
  kNotSelected,   ///< another warp issues [not selected]
  kUnit,          ///< the instruction's unit is busy [math pipe throttle]
  kMemoryUnit,    ///< the queue of the SM's memory unit is full [MIO throttle, LG throttle]
  kGlobal,        ///< data from L1, L2 or DRAM [long scoreboard]
  kShared,        ///< shared memory, shuffles, MUFU, conversions, … [short scoreboard]
  kAsyncCopy,     ///< cp.async
  kWgmma,
  kBarrier,  ///< a barrier of the CTA [barrier]
  kMbarrier,
  kFetch,   ///< the instruction fetch [no instruction]
  kBranch,  ///< a taken branch [branch resolving]
  kCount,
};

inline constexpr std::size_t kWaits = static_cast<std::size_t>(Wait::kCount);

inline constexpr std::array<std::string_view, kWaits> kWaitNames = {"issued",
                                                                    "fixed latency",
                                                                    "another warp issued",
                                                                    "unit busy",
                                                                    "memory queue",
                                                                    "global memory",
                                                                    "shared memory, MUFU, …",
                                                                    "cp.async",
                                                                    "wgmma",
                                                                    "barrier",
                                                                    "mbarrier",
                                                                    "instruction fetch",
                                                                    "branch"};

/// For one instruction, the clocks that warps spent waiting for each reason, summed over the warps.
using WaitClocks = std::array<double, kWaits>;

}  // namespace evo
