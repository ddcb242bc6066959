#pragma once

#include <cstdint>
#include <string>

#include "engine/core/measurement.hpp"

namespace evo {

/// The properties of a device, real or virtual, that the engine uses.
struct DeviceInfo {
  std::string id;    ///< as on the command line: "cuda:0" or "virtual:l4"
  std::string name;  ///< for example "NVIDIA H200"
  std::string arch;  ///< the architecture to compile for, such as "sm_90"
  TimeKind time_kind = TimeKind::kMeasured;
  int sm_count = 0;
  double clock_mhz = 0;  ///< boost clock
  int max_registers_per_thread = 255;
  int max_shared_bytes_per_cta = 0;  ///< opt-in limit, static + dynamic
  int max_threads_per_cta = 1024;
  std::int64_t l2_bytes = 0;
  /// highest dense rate of any of the device's arithmetic units, for the roofline bound
  double peak_tflops = 0;
  double peak_bandwidth_gbs = 0;  ///< DRAM, GB/s
  bool counts_energy = false;     ///< whether there is an energy counter; not stored in the
                                  ///< database
  std::string driver;             ///< driver version, or the virtual GPU's version
  std::string uuid = {};          ///< UUID of the GPU, "GPU-0a1b…"; empty for a virtual device
  std::string host = {};          ///< the host of the device; empty for this machine
};

/// True for a part of a GPU (a MIG instance), whose times depend on the load of the other parts.
/// The driver's name for the device contains " MIG ", as in "NVIDIA A100-SXM4-40GB MIG 1g.5gb".
[[nodiscard]] inline bool is_slice(const DeviceInfo& device) {
  return device.name.find(" MIG ") != std::string::npos;
}

}  // namespace evo
