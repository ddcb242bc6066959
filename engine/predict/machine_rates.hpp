#pragma once

namespace evo {

/// The time model's parameters for an SM, in clocks unless a parameter's name or comment gives
/// another unit. machine_rates() computes them from the figures in device/virtual/timing/devices;
/// those files name the sources.
struct MachineRates {
  int sms = 0;
  double clock_mhz = 0;
  double tensor_clock_mhz = 0;  ///< clock in kernels that use the tensor cores
  bool is_sm90 = false;         ///< whether branches have the encoding of sm_90 and later

  // The following parameters say for how many clocks an instruction of a warp occupies its unit in
  // a sub-core.
  double issue = 0;  ///< the sub-core's issue slot; a mean that includes delays by register ports
  double alu = 0;
  double fma = 0;
  double fma_heavy = 0;
  double half = 0;
  double fp64 = 0;
  double uniform = 0;
  double pack = 0;
  double pack_bytes = 0;    ///< conversion to e4m3 or e5m2
  double unpack_bytes = 0;  ///< conversion from e4m3 or e5m2
  double transform = 0;
  double tensor_flops = 0;       ///< rate of mma.sync, per clock and sub-core
  double gmma_flops = 0;         ///< rate of wgmma on f16, per clock and sub-core
  double tensor_shares = 0;      ///< delay of a busy tensor core by another instruction
  double tensor_transforms = 0;  ///< delay of the transform unit by an mma.sync

  // The following parameters are the clocks until the result of an instruction is available.
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
  double dram_latency = 0;  ///< smallest latency of DRAM
  double dram_spread = 0;   ///< mean additional latency of a line from DRAM
  /// additional latency, in clocks, of the last cache line if a load reads many lines from L2
  double slowest_line = 0;
  double atomic_latency = 0;
  /// time between two atomics on the same address, by any SMs
  double atomic_interval = 0;
  double print_clocks = 0;       ///< cost of a thread's call of printf
  double fence_latency = 0;      ///< latency of a fence if all stores have arrived
  double cta_fence_latency = 0;  ///< latency of a fence of CTA scope
  double barrier_latency = 0;    ///< from the last arrival at a barrier to its completion
  double barrier_arrival = 0;    ///< interval between two warps' arrivals at barriers on one SM
  double mbarrier_latency = 0;
  double operand_latency = 0;  ///< time until a memory instruction has read its operands
  double branch_clocks = 0;    ///< time from a taken branch to the next instruction

  double queue = 0;           ///< length of the memory unit's queue, in clocks of work
  double l2_capacity = 0;     ///< bytes
  double l2_bytes = 0;        ///< bytes read per clock and SM, if each SM reads different data
  double l2_write_bytes = 0;  ///< bytes written per clock and SM, if each SM writes different data
  double l2_copy_port_bytes = 0;   ///< limit of the bytes that one SM copies by cp.async per clock
  double l2_write_port_bytes = 0;  ///< limit of the bytes that one SM writes per clock
  double dram_bytes = 0;           ///< bytes read per clock and SM, if all SMs read
  double dram_reached = 0;         ///< attainable share of the GPU's peak bandwidth
  double instruction_cache = 0;    ///< size in bytes
  double fetch_clocks = 0;         ///< time to fetch 128 bytes of code from this cache
  double far_fetch_clocks = 0;     ///< time to fetch 128 bytes if the kernel exceeds this cache
  double near_code = 0;            ///< bytes of code that a sub-core keeps
  double near_fetch_clocks = 0;    ///< latency of code that does not follow the last fetched line
  double cta_interval = 0;         ///< interval between the starts of two CTAs on an SM
  double cta_clocks = 0;           ///< time from the end of a CTA to the start of the next

  double launch_us = 0;  ///< time of an empty launch in a graph
  /// additional time before the next launch starts if a launch has stored data
  double drain_us = 0;
};

}  // namespace evo
