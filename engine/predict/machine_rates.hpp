#pragma once

namespace evo {

/// What the model knows of a card's SM, in clocks unless a name says otherwise.
struct MachineRates {
  // Of the card: machine_rates() of device/virtual/timing, from data sheets, the CUDA C++
  // Programming Guide ("Arithmetic Instructions") and published micro-benchmarks of its caches.
  int sms = 132;
  double clock_mhz = 1980;
  double tensor_clock_mhz = 1830;  ///< of kernels that use the tensor cores
  bool is_sm90 = true;             ///< branches are encoded as since sm_90
  double alu = 2;  ///< clocks that an instruction of a warp occupies its sub-core's unit
  double fma = 1;
  double fma_heavy = 2;
  double half = 1;
  double fp64 = 2;
  double pack = 2;
  double transform = 8;
  double tensor_flops = 640;  ///< of mma.sync, per clock and sub-core
  double gmma_flops = 1024;   ///< of wgmma on f16, per clock and sub-core
  double l1_latency = 34;
  double l2_latency = 266;
  double dram_latency = 658;
  double slowest_line = 300;
  double l2_capacity = 50 << 20;  ///< bytes
  double l2_bytes = 40;           ///< per clock and SM
  double l2_write_bytes = 15;     ///< per clock and SM, of sectors that are written
  double dram_bytes = 13;         ///< per clock and SM

  double issue = 1.15;      ///< from an instruction of a sub-core to its next one
  double launch_us = 0.62;  ///< a launch in a graph that does nothing
  double drain_us = 0.35;   ///< until the next one starts, after a launch that stored something

  // Measured by op-costs on an H200 and taken for the other cards too.
  double cta_interval = 155;  ///< between the starts of two CTAs on one SM
  double cta_clocks = 300;    ///< from the end of a CTA to the start of one in its place
  double pack_bytes = 4;      ///< to e4m3 or e5m2; as `pack`
  double unpack_bytes = 2.7;  ///< from them
  double tensor_latency = 30.5;
  double tensor_shares = 0.65;     ///< by which any other instruction delays a busy tensor core
  double tensor_transforms = 1.2;  ///< by which an mma.sync delays the transform unit
  double transform_latency = 10;
  double fp64_latency = 16;
  double shared_latency = 21;
  double matrix_latency = 24;  ///< of ldmatrix and stmatrix
  double shuffle_latency = 22;
  double atomic_latency = 550;
  double fence_latency = 266;   ///< when all stores have arrived
  double barrier_latency = 12;  ///< from the last arrival
  double barrier_arrival = 2;   ///< between two of them, of any warps of the SM
  double mbarrier_latency = 46;
  double instruction_cache = 48 << 10;  ///< bytes
  double fetch_clocks = 2.4;            ///< of 128 bytes of code, from that cache
  double far_fetch_clocks = 20;         ///< the same of a kernel that does not fit in it

  // Assumed, in the range of what is published for Volta to Hopper; nothing was fitted.
  double uniform = 2;
  double uniform_latency = 12;
  double gmma_latency = 60;
  double constant_latency = 40;
  double special_latency = 25;
  double operand_latency = 12;  ///< until a memory instruction has read its operands
  double branch_clocks = 8;     ///< from a branch that is taken to the next instruction
  double queue = 24;            ///< clocks of work that the SM's memory unit takes in advance
};

}  // namespace evo
