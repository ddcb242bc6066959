#pragma once

#include <cstdint>
#include <string>

#include "engine/core/measurement.hpp"

namespace evo {

/// What the engine needs to know of a device, real or virtual.
struct DeviceInfo {
  std::string id;    ///< as on the command line: "cuda:0", "virtual:l4"
  std::string name;  ///< "NVIDIA H200"
  std::string arch;  ///< what to compile for: "sm_90"
  TimeKind time_kind = TimeKind::kMeasured;
  int sm_count = 0;
  double clock_mhz = 0;  ///< boost
  int max_registers_per_thread = 255;
  int max_shared_bytes_per_cta = 0;  ///< opt-in limit, static + dynamic
  int max_threads_per_cta = 1024;
  std::int64_t l2_bytes = 0;
  double peak_tflops = 0;         ///< the highest dense rate of any of its units; for the floor
  double peak_bandwidth_gbs = 0;  ///< DRAM, GB/s
  bool counts_energy = false;     ///< not stored
  std::string driver;             ///< driver version, or the virtual GPU's version
  std::string uuid = {};          ///< of the card, "GPU-0a1b…"; empty for a virtual one
  std::string host = {};          ///< another host that it is in; empty for this machine
};

/// Whether it is a part of a card (MIG): its times depend on the other parts. The driver says so in
/// the name: "NVIDIA A100-SXM4-40GB MIG 1g.5gb".
[[nodiscard]] inline bool is_slice(const DeviceInfo& device) {
  return device.name.find(" MIG ") != std::string::npos;
}

}  // namespace evo
