#pragma once

#include <cstdint>
#include <string_view>

#include "engine/device/device.hpp"

namespace evo::ptx {

/// What the virtual GPU knows of a card: limits, and rates per SM and clock for the predicted time.
/// Sources: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability" (limits);
/// NVIDIA data sheets (SMs, clocks, DRAM); published micro-benchmarks (latencies, L2 bandwidth).
struct DeviceModel {
  DeviceInfo info;
  int max_warps_per_sm = 64;
  int max_ctas_per_sm = 32;
  int registers_per_sm = 65536;
  int register_unit_per_warp = 256;  ///< registers are allocated to warps in this granularity
  int shared_bytes_per_sm = 0;
  int reserved_shared_bytes = 1024;  ///< taken by the system from every CTA
  int shared_unit_bytes = 128;
  double f16_flops_per_clock = 1024;     ///< dense, mma.sync, per SM
  double fp8_flops_per_clock = 2048;     ///< 0: no e4m3 mma.sync
  double wgmma_f16_flops_per_clock = 0;  ///< 0: no wgmma
  double wgmma_fp8_flops_per_clock = 0;
  double fma_per_clock = 128;  ///< f32 lanes
  double alu_per_clock = 64;   ///< integer and logic lanes
  double mufu_per_clock = 16;
  double convert_per_clock = 64;
  double fp64_per_clock = 2;
  double l1_latency = 36;  ///< clocks
  double l2_latency = 276;
  double dram_latency = 632;
  double l2_bytes_per_clock = 64;  ///< per SM
  double launch_us = 0.62;         ///< one launch of many in a graph, as kernels are timed
};

/// "virtual:l4", "virtual:a100", "virtual:h200". Throws InputError for another id, listing these.
[[nodiscard]] const DeviceModel& device_model(std::string_view id);

/// What limits the resident CTAs of an SM.
struct Occupancy {
  int ctas_per_sm = 0;
  std::string_view limit;  ///< "registers", "shared memory", "warps" or "CTAs"
};

/// By the rules of cuda_occupancy.h. `registers`: per thread, 0 when unknown.
[[nodiscard]] Occupancy occupancy(const DeviceModel& model, int registers, int threads,
                                  int shared_bytes);

}  // namespace evo::ptx
