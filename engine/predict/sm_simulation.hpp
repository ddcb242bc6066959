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
  /// Clocks until all warps have ended and all stores have arrived; extrapolated for long kernels.
  double clocks = 0;
  /// The time in µs, with MachineRates::drain_us if the launch stores data, and at least the time
  /// of atomics on one address.
  double us = 0;
  std::uint64_t issued = 0;  ///< number of simulated instructions
  bool is_whole = true;      ///< whether the simulation reached the end of the last CTA
};

/// Data of the simulation with which `evo-predict explain` explains the predicted time.
struct SmActivity {
  std::vector<WaitClocks> waits;  ///< for each machine instruction
  /// For each unit, the share of the simulated clocks in which the unit was busy, as a mean over
  /// the four sub-cores.
  std::array<double, static_cast<std::size_t>(Unit::kCount)> busy{};
  double memory_busy = 0;  ///< the share of clocks in which the SM's memory unit was busy
};

/// Simulates the CTAs that one SM runs; `resident` of them run at a time. Simulates nothing, and
/// returns a time of 0, if the profile's cubin lacks the kernel or the PTX lines of its
/// instructions. Does the same if the simulated paths are much longer than the executed PTX or have
/// other matrix products, because the cubin and the PTX then do not match. If `activity` is not
/// null, it is filled with the SmActivity of the simulation.
[[nodiscard]] SmTime simulate_sm(const MachineRates& rates, const LaunchProfile& profile,
                                 int resident, SmActivity* activity = nullptr);

}  // namespace evo
