#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/device/device.hpp"
#include "engine/predict/machine_rates.hpp"

namespace evo::ptx {

/// The model of a GPU: its limits, and figures for predicted times. The model's file in devices/
/// gives the source of each figure.
struct DeviceModel {
  DeviceInfo info;
  int max_warps_per_sm = 0;
  int max_ctas_per_sm = 0;
  int registers_per_sm = 0;
  int register_unit_per_warp = 0;  ///< granularity of register allocation to warps
  int shared_bytes_per_sm = 0;
  int reserved_shared_bytes = 0;  ///< reserved by the system for each CTA
  int shared_unit_bytes = 0;
  // Rates per SM and clock.
  double f16_flops_per_clock = 0;        ///< dense, mma.sync
  double fp8_flops_per_clock = 0;        ///< 0: no e4m3 mma.sync
  double wgmma_f16_flops_per_clock = 0;  ///< 0: no wgmma
  double wgmma_fp8_flops_per_clock = 0;
  double fma_per_clock = 0;  ///< f32 lanes
  double alu_per_clock = 0;  ///< integer and logic lanes
  double mufu_per_clock = 0;
  double convert_per_clock = 0;
  double fp64_per_clock = 0;
  MachineRates rates;  ///< parameters that do not follow from other members
};

/// A file of a GPU's figures, embedded in the programs.
struct DeviceFile {
  std::string_view name;
  std::string_view text;
};

[[nodiscard]] std::span<const DeviceFile> device_files();

/// Parses the text of a file in devices/. Throws InputError naming file, key, value and the allowed
/// values, also if a figure has no source.
[[nodiscard]] DeviceModel read_device_model(const std::string& text, const std::string& file);

/// The model with one figure changed. `key`: the figure's name in the file. Throws InputError.
[[nodiscard]] DeviceModel with_figure(DeviceModel model, std::string_view key, double value);

/// The ids of all virtual GPUs: "virtual:l4", "virtual:a100", "virtual:h200".
[[nodiscard]] std::vector<std::string> device_ids();

/// The model for one of device_ids(). Throws InputError listing the ids for any other id.
[[nodiscard]] const DeviceModel& device_model(std::string_view id);

/// The parameters of the simulation of an SM.
[[nodiscard]] MachineRates machine_rates(const DeviceModel& model);

/// The number of resident CTAs on an SM, and the resource that limits it.
struct Occupancy {
  int ctas_per_sm = 0;
  std::string_view limit;  ///< "registers", "shared memory", "warps" or "CTAs"
};

/// The occupancy by the rules of cuda_occupancy.h. `registers`: per thread, 0 if unknown.
[[nodiscard]] Occupancy occupancy(const DeviceModel& model, int registers, int threads,
                                  int shared_bytes);

}  // namespace evo::ptx
