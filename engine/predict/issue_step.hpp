#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "engine/cubin/machine_code.hpp"
#include "engine/predict/launch_profile.hpp"
#include "engine/predict/machine_rates.hpp"
#include "engine/predict/operation.hpp"

namespace evo {

inline constexpr double kSectorBytes = 32;
inline constexpr unsigned kNoRegister = 255;  ///< RZ

/// A machine instruction in the time model's simulation of an SM: the units that it occupies, and
/// for how many clocks.
struct IssueStep {
  Unit unit = Unit::kNone;
  std::uint32_t line = 0;  ///< line of the PTX, see MachineInstruction::ptx_line
  double occupies = 1;     ///< clocks for which the instruction occupies its unit
  double passes = 0;       ///< clocks for which the instruction occupies the SM's memory unit
  double sectors = 0;      ///< sectors requested from L2
  double dram = 0;         ///< the part of `sectors` that comes from or goes to DRAM
  double dram_lines = 0;   ///< for a load: lines of 128 bytes that the load reads from DRAM
  double latency = 0;      ///< clocks until the instruction's result is available
  double pause = 0;        ///< clocks that the warp pauses in addition to `stall`
  int stall = 1;           ///< clocks until the warp may issue the next instruction
  unsigned write_barrier = 7;
  unsigned read_barrier = 7;
  unsigned waits = 0;
  /// The first register of a result that arrives later than after `stall` clocks and has no
  /// scoreboard; the hardware delays instructions that read it.
  unsigned result = kNoRegister;
  unsigned results = 0;  ///< number of registers of the result
  std::array<unsigned, 3> reads = {kNoRegister, kNoRegister, kNoRegister};
  /// for a wait for asynchronous copies: the number of groups that may stay in flight
  unsigned pending = 0;
  bool commits = false;        ///< a wgmma that ends a group
  bool stores = false;         ///< a bulk copy to global memory
  bool arrives_later = false;  ///< arrives at a barrier when the warp's copies have arrived
  bool never = false;          ///< the instruction's guard is always false
};

/// The fraction of a launch's memory traffic beyond L1 that is the first access to a byte: the size
/// of all buffers divided by this traffic, at most 1.
[[nodiscard]] double distinct_share(const LaunchProfile& profile);

/// Makes an IssueStep for each machine instruction. `executions`: how often all warps of a CTA
/// together execute each instruction. The memory requests of a PTX line are divided among the
/// machine instructions that were made from the line.
[[nodiscard]] std::vector<IssueStep> issue_steps(const MachineRates& rates,
                                                 const std::vector<MachineInstruction>& code,
                                                 const std::vector<double>& executions,
                                                 const LaunchProfile& profile);

}  // namespace evo
