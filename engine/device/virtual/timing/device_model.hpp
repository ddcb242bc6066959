#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/device/device.hpp"
#include "engine/predict/machine_rates.hpp"

namespace evo::ptx {

/// The model of a GPU: its limits, such as registers per SM, and the figures from which times are
/// predicted. The GPU's file in devices/ gives the source of each figure.
struct DeviceModel {
  DeviceInfo info;
  int max_warps_per_sm = 0;
  int max_ctas_per_sm = 0;
  int registers_per_sm = 0;
  int register_unit_per_warp = 0;  ///< a warp gets a multiple of this number of registers
  int shared_bytes_per_sm = 0;
  int reserved_shared_bytes = 0;  ///< reserved by the system for each CTA
  int shared_unit_bytes = 0;
  // The following rates are per SM and clock.
  double f16_flops_per_clock = 0;        ///< dense, mma.sync
  double fp8_flops_per_clock = 0;        ///< 0: no e4m3 mma.sync
  double wgmma_f16_flops_per_clock = 0;  ///< 0: no wgmma
  double wgmma_fp8_flops_per_clock = 0;
  double fma_per_clock = 0;  ///< f32 lanes
  double alu_per_clock = 0;  ///< integer and logic lanes
  double mufu_per_clock = 0;
  double convert_per_clock = 0;
  double fp64_per_clock = 0;
  MachineRates rates;  ///< the members that machine_rates() does not compute
};

/// The content of a GPU's file in devices/, which is compiled into the programs.
struct DeviceFile {
  std::string_view name;
  std::string_view text;
};

[[nodiscard]] std::span<const DeviceFile> device_files();

/// Parses the text of a GPU's file in devices/. Throws InputError, which names the file, the key,
/// the value and the allowed values, if a figure is invalid, missing or has no source.
[[nodiscard]] DeviceModel read_device_model(const std::string& text, const std::string& file);

/// Returns the model with the value of one figure changed. `key`: the figure's name in the file.
/// Throws InputError.
[[nodiscard]] DeviceModel with_figure(DeviceModel model, std::string_view key, double value);

/// The ids of all virtual GPUs: "virtual:l4", "virtual:a100", "virtual:h200".
[[nodiscard]] std::vector<std::string> device_ids();

/// The model for one of device_ids(). For any other id, throws InputError, which lists the ids.
[[nodiscard]] const DeviceModel& device_model(std::string_view id);

/// The parameters of the time model's simulation of an SM.
[[nodiscard]] MachineRates machine_rates(const DeviceModel& model);

/// The number of resident CTAs on an SM, and the resource that limits it.
struct Occupancy {
  int ctas_per_sm = 0;
  std::string_view limit;  ///< "registers", "shared memory", "warps" or "CTAs"
};

/// The occupancy of an SM by the rules of cuda_occupancy.h. `registers`: registers per thread; 0 if
/// unknown.
[[nodiscard]] Occupancy occupancy(const DeviceModel& model, int registers, int threads,
                                  int shared_bytes);

}  // namespace evo::ptx
