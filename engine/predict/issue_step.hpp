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

/// A machine instruction in the simulation of an SM: the resources that it occupies, and for how
/// many clocks.
struct IssueStep {
  Unit unit = Unit::kNone;
  std::uint32_t line = 0;  ///< line of the PTX, see MachineInstruction::ptx_line
  double occupies = 1;     ///< clocks of its unit
  double passes = 0;       ///< clocks of the SM's memory unit
  double sectors = 0;      ///< requested from L2
  double dram = 0;         ///< the part of these from (or to) DRAM
  double dram_lines = 0;   ///< for a load: lines of 128 bytes from DRAM that it waits for
  double latency = 0;      ///< clocks until its result is available
  double pause = 0;        ///< clocks until the warp may issue the next instruction, beyond `stall`
  int stall = 1;           ///< clocks until the warp may issue the next instruction
  unsigned write_barrier = 7;
  unsigned read_barrier = 7;
  unsigned waits = 0;
  /// Registers whose results no scoreboard guards, although they arrive later than `stall`; the
  /// hardware itself delays the readers.
  unsigned result = kNoRegister;
  unsigned results = 0;  ///< number of registers
  std::array<unsigned, 3> reads = {kNoRegister, kNoRegister, kNoRegister};
  /// for a wait for asynchronous work: number of groups that may be in flight
  unsigned pending = 0;
  bool commits = false;        ///< a wgmma that ends a group
  bool stores = false;         ///< a bulk copy into global memory
  bool arrives_later = false;  ///< arrives at its barrier when the copies of the warp have arrived
  bool never = false;          ///< its guard is always false
};

/// The share of a launch's reads from outside of the SMs that no other CTA has read before: each
/// byte of its buffers is read once.
[[nodiscard]] double distinct_share(const LaunchProfile& profile);

/// One step for each instruction. `executions`: of each, by all warps of a CTA. The memory requests
/// of a PTX line are distributed over the executions of the instructions made from it.
[[nodiscard]] std::vector<IssueStep> issue_steps(const MachineRates& rates,
                                                 const std::vector<MachineInstruction>& code,
                                                 const std::vector<double>& executions,
                                                 const LaunchProfile& profile);

}  // namespace evo
