#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/predict/launch_profile.hpp"
#include "engine/predict/machine_rates.hpp"
#include "engine/predict/operation.hpp"
#include "engine/predict/wait_clocks.hpp"

namespace evo {

struct SmTime {
  double clocks = 0;         ///< until the last warp ended; extrapolated for long kernels
  double us = 0;             ///< time for them
  std::uint64_t issued = 0;  ///< number of simulated instructions
  bool is_whole = true;      ///< until the end of the last CTA
};

/// Data from a simulation that explain its time.
struct SmActivity {
  std::vector<WaitClocks> waits;  ///< for each machine instruction
  /// For each unit, the share of the simulated clocks in which it was busy, over the four
  /// sub-cores.
  std::array<double, static_cast<std::size_t>(Unit::kCount)> busy{};
  double memory_busy = 0;  ///< the same for the SM's memory unit
};

/// Runs the CTAs that one SM receives, `resident` at a time. Issues nothing if the profile's cubin
/// lacks the entry or its PTX lines, or if a warp's path through it is much longer than what the
/// PTX executed, because the two then do not match. `activity`: filled if given.
[[nodiscard]] SmTime simulate_sm(const MachineRates& rates, const LaunchProfile& profile,
                                 int resident, SmActivity* activity = nullptr);

}  // namespace evo
