#pragma once

namespace evo {

/// What the model knows of a card's SM, in clocks unless a name says otherwise. The figures and
/// their sources stand in device/virtual/timing/devices; machine_rates() makes this of them.
struct MachineRates {
  int sms = 0;
  double clock_mhz = 0;
  double tensor_clock_mhz = 0;  ///< of kernels that use the tensor cores
  bool is_sm90 = false;         ///< branches are encoded as since sm_90

  // For how long an instruction of a warp occupies its sub-core's unit.
  double issue = 0;  ///< the sub-core itself: the mean, with what register ports delay
  double alu = 0;
  double fma = 0;
  double fma_heavy = 0;
  double half = 0;
  double fp64 = 0;
  double uniform = 0;
  double pack = 0;
  double pack_bytes = 0;    ///< to e4m3 or e5m2
  double unpack_bytes = 0;  ///< from them
  double transform = 0;
  double tensor_flops = 0;       ///< of mma.sync, per clock and sub-core
  double gmma_flops = 0;         ///< of wgmma on f16, per clock and sub-core
  double tensor_shares = 0;      ///< by which any other instruction delays a busy tensor core
  double tensor_transforms = 0;  ///< by which an mma.sync delays the transform unit

  // Until a result is there.
  double tensor_latency = 0;
  double gmma_latency = 0;
  double transform_latency = 0;
  double fp64_latency = 0;
  double uniform_latency = 0;
  double constant_latency = 0;
  double special_latency = 0;
  double shared_latency = 0;
  double matrix_latency = 0;  ///< of ldmatrix and stmatrix
  double shuffle_latency = 0;
  double l1_latency = 0;
  double l2_latency = 0;
  double dram_latency = 0;  ///< the least
  double dram_spread = 0;   ///< by which a line from DRAM is later, in the mean
  double slowest_line = 0;  ///< by which the last of many lines from L2 is later than the mean
  double atomic_latency = 0;
  double atomic_interval = 0;    ///< between two on one address, from anywhere on the card
  double print_clocks = 0;       ///< of a call of printf by a thread
  double fence_latency = 0;      ///< when all stores have arrived
  double cta_fence_latency = 0;  ///< of one for the CTA alone
  double barrier_latency = 0;    ///< from the last arrival
  double barrier_arrival = 0;    ///< between two of them, of any warps of the SM
  double mbarrier_latency = 0;
  double operand_latency = 0;  ///< until a memory instruction has read its operands
  double branch_clocks = 0;    ///< from a branch that is taken to the next instruction

  double queue = 0;                ///< clocks of work that the SM's memory unit takes in advance
  double l2_capacity = 0;          ///< bytes
  double l2_bytes = 0;             ///< per clock and SM, when all read what no other one does
  double l2_write_bytes = 0;       ///< likewise, when all write
  double l2_copy_port_bytes = 0;   ///< likewise, the most that one SM can copy by cp.async
  double l2_write_port_bytes = 0;  ///< the most that it can write
  double dram_bytes = 0;           ///< per clock and SM, when all read
  double dram_reached = 0;         ///< that, of the card's peak
  double instruction_cache = 0;    ///< bytes
  double fetch_clocks = 0;         ///< of 128 bytes of code, from that cache
  double far_fetch_clocks = 0;     ///< the same of a kernel that does not fit in it
  double near_code = 0;            ///< bytes of code that a sub-core keeps
  double near_fetch_clocks = 0;    ///< until it has others again that do not follow the last
  double cta_interval = 0;         ///< between the starts of two CTAs on one SM
  double cta_clocks = 0;           ///< from the end of a CTA to the start of one in its place

  double launch_us = 0;  ///< a launch in a graph that does nothing
  double drain_us = 0;   ///< until the next one starts, after a launch that stored something
};

}  // namespace evo
