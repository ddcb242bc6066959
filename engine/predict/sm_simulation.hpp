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
  double clocks = 0;         ///< until the last warp ended; of long kernels extrapolated
  double us = 0;             ///< that they take
  std::uint64_t issued = 0;  ///< instructions that were simulated
  bool is_whole = true;      ///< to the end of the last CTA
};

/// What a simulation saw, to explain its time.
struct SmActivity {
  std::vector<WaitClocks> waits;  ///< of each machine instruction
  /// Share of the simulated clocks in which each unit of the four sub-cores was busy.
  std::array<double, static_cast<std::size_t>(Unit::kCount)> busy{};
  double memory_busy = 0;  ///< the same of the SM's memory unit
};

/// Runs the CTAs that one SM gets, `resident` at a time. Nothing is issued when the profile's cubin
/// lacks the entry, does not know from which lines of the PTX it was made, or when a warp's way
/// through it is far longer than what the PTX executed: then the two do not fit.
/// `activity`: filled when given.
[[nodiscard]] SmTime simulate_sm(const MachineRates& rates, const LaunchProfile& profile,
                                 int resident, SmActivity* activity = nullptr);

}  // namespace evo
