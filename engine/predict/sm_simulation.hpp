#pragma once

#include <cstdint>

#include "engine/predict/launch_profile.hpp"

namespace evo {

/// What the model knows of a card's SM: rates and latencies, in clocks.
struct MachineRates {
  int sms = 132;
  double clock_mhz = 1980;
  bool is_sm90 = true;
  /// Clocks that a warp's instruction occupies its unit of a sub-core.
  double alu = 2;
  double fma = 1;
  double fma_heavy = 2;
  double half = 1;
  double fp64 = 2;
  double pack = 2;
  double transform = 8;
  double uniform = 2;
  double tensor_flops = 640;  ///< of mma.sync, per clock and sub-core
  double gmma_flops = 1024;   ///< of wgmma on f16, per clock and sub-core
  double shared_pass = 1;     ///< of a wavefront, on the SM
  double shuffle_pass = 1;
  double async_pass = 1;  ///< of a wavefront that arrives from global memory
  double queue = 24;      ///< clocks of work that the SM's memory unit takes in advance
  // Latencies.
  double shared_latency = 23;
  double matrix_latency = 29;
  double shuffle_latency = 22;
  double transform_latency = 18;
  double constant_latency = 40;
  double special_latency = 25;
  double l1_latency = 34;
  double l2_latency = 266;
  double dram_latency = 658;
  double atomic_latency = 400;
  double barrier_latency = 20;
  double mbarrier_latency = 20;
  double gmma_latency = 60;
  double fence_latency = 300;
  double fp64_latency = 16;
  double operand_latency = 12;  ///< until a memory instruction has read its operands
  double branch_clocks = 8;     ///< from a branch that is taken to the next instruction
  double l2_capacity = 50 << 20;
  double l2_bytes = 40;       ///< per clock and SM
  double dram_bytes = 13;     ///< per clock and SM
  double fetch_clocks = 20;   ///< of 128 bytes of code that no warp of the SM has executed
  double cta_clocks = 300;    ///< to start a CTA
  double cta_interval = 130;  ///< between two of them on one SM
  double launch_us = 1.9;     ///< a launch in a graph that does nothing
};

struct SmTime {
  double clocks = 0;         ///< until the last warp ended; of long kernels extrapolated
  std::uint64_t issued = 0;  ///< instructions that were simulated
};

/// Runs the CTAs that one SM gets, `resident` at a time. Nothing is issued when the profile's cubin
/// lacks the entry or does not know from which lines of the PTX it was made.
[[nodiscard]] SmTime simulate_sm(const MachineRates& rates, const LaunchProfile& profile,
                                 int resident);

}  // namespace evo
