#pragma once

namespace evo {

/// The model's parameters of a card's SM, in clocks unless the name gives another unit.
/// machine_rates() computes them from the figures in device/virtual/timing/devices, which name
/// their sources.
struct MachineRates {
  int sms = 0;
  double clock_mhz = 0;
  double tensor_clock_mhz = 0;  ///< clock in kernels that use the tensor cores
  bool is_sm90 = false;         ///< branches have the encoding of sm_90 and later

  // How long a warp's instruction occupies its unit in the sub-core.
  double issue = 0;  ///< the sub-core's issue slot: the mean, including delays by register ports
  double alu = 0;
  double fma = 0;
  double fma_heavy = 0;
  double half = 0;
  double fp64 = 0;
  double uniform = 0;
  double pack = 0;
  double pack_bytes = 0;    ///< to e4m3 or e5m2
  double unpack_bytes = 0;  ///< from e4m3 or e5m2
  double transform = 0;
  double tensor_flops = 0;       ///< rate of mma.sync, per clock and sub-core
  double gmma_flops = 0;         ///< rate of wgmma on f16, per clock and sub-core
  double tensor_shares = 0;      ///< delay of a busy tensor core by any other instruction
  double tensor_transforms = 0;  ///< delay of the transform unit by an mma.sync

  // Latencies of results.
  double tensor_latency = 0;
  double gmma_latency = 0;
  double transform_latency = 0;
  double fp64_latency = 0;
  double uniform_latency = 0;
  double constant_latency = 0;
  double special_latency = 0;
  double shared_latency = 0;
  double matrix_latency = 0;  ///< for ldmatrix and stmatrix
  double shuffle_latency = 0;
  double l1_latency = 0;
  double l2_latency = 0;
  double dram_latency = 0;  ///< minimum
  double dram_spread = 0;   ///< mean additional latency of a line from DRAM
  /// additional latency of the last of many lines from L2, relative to the mean
  double slowest_line = 0;
  double atomic_latency = 0;
  /// interval of two atomics on one address, from anywhere on the card
  double atomic_interval = 0;
  double print_clocks = 0;       ///< cost of a call of printf by a thread
  double fence_latency = 0;      ///< if all stores have arrived
  double cta_fence_latency = 0;  ///< for a fence of CTA scope
  double barrier_latency = 0;    ///< after the last arrival
  double barrier_arrival = 0;    ///< between two barriers of any warps of the SM
  double mbarrier_latency = 0;
  double operand_latency = 0;  ///< until a memory instruction has read its operands
  double branch_clocks = 0;    ///< from a taken branch to the next instruction

  double queue = 0;                ///< queue of the SM's memory unit, in clocks of work
  double l2_capacity = 0;          ///< bytes
  double l2_bytes = 0;             ///< per clock and SM, if each SM reads different data
  double l2_write_bytes = 0;       ///< the same for writes
  double l2_copy_port_bytes = 0;   ///< the same, the most that one SM can copy by cp.async
  double l2_write_port_bytes = 0;  ///< the most that one SM can write
  double dram_bytes = 0;           ///< per clock and SM, if all SMs read
  double dram_reached = 0;         ///< attainable share of the card's peak
  double instruction_cache = 0;    ///< bytes
  double fetch_clocks = 0;         ///< for 128 bytes of code, from that cache
  double far_fetch_clocks = 0;     ///< the same for a kernel that does not fit it
  double near_code = 0;            ///< bytes of code that a sub-core keeps
  double near_fetch_clocks = 0;    ///< latency of code that does not follow the last line
  double cta_interval = 0;         ///< between the starts of two CTAs on one SM
  double cta_clocks = 0;           ///< from the end of a CTA to the start of its successor

  double launch_us = 0;  ///< an empty launch in a graph
  /// additional time until the next launch starts, if the launch stored data
  double drain_us = 0;
};

}  // namespace evo
