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

/// A machine instruction as the simulation of an SM sees it: what it occupies, and for how many
/// clocks.
struct IssueStep {
  Unit unit = Unit::kNone;
  std::uint32_t line = 0;  ///< of the PTX, as MachineInstruction::ptx_line
  double occupies = 1;     ///< its unit, clocks
  double passes = 0;       ///< of the SM's memory unit
  double sectors = 0;      ///< asked of L2
  double dram = 0;         ///< of these, what comes from (or goes to) DRAM
  double dram_lines = 0;   ///< of a load, lines of 128 bytes that it waits for from DRAM
  double latency = 0;      ///< clocks until its result is there
  double pause = 0;        ///< clocks until the warp may issue the next one, beyond `stall`
  int stall = 1;           ///< clocks until the warp may issue the next one
  unsigned write_barrier = 7;
  unsigned read_barrier = 7;
  unsigned waits = 0;
  /// Registers whose result no scoreboard guards, although it comes later than `stall` says: the SM
  /// itself holds their readers back.
  unsigned result = kNoRegister;
  unsigned results = 0;  ///< how many
  std::array<unsigned, 3> reads = {kNoRegister, kNoRegister, kNoRegister};
  unsigned pending = 0;        ///< of a wait for asynchronous work: groups that may be under way
  bool commits = false;        ///< a wgmma that ends a group
  bool arrives_later = false;  ///< at its barrier, when the copies of the warp have landed
  bool never = false;          ///< its guard is always false
};

/// The share of what a launch reads from beyond its SMs that none of its CTAs has read before: each
/// byte of its buffers is read once.
[[nodiscard]] double distinct_share(const LaunchProfile& profile);

/// One for each instruction. `executions`: of each, by all warps of a CTA. What a line of the PTX
/// asked of memory is shared by the executions of the instructions that were made from it.
[[nodiscard]] std::vector<IssueStep> issue_steps(const MachineRates& rates,
                                                 const std::vector<MachineInstruction>& code,
                                                 const std::vector<double>& executions,
                                                 const LaunchProfile& profile);

}  // namespace evo
