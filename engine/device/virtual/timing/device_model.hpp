#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/device/device.hpp"
#include "engine/predict/machine_rates.hpp"

namespace evo::ptx {

/// What the virtual GPU knows of a card: limits, and figures for the predicted time. Where each
/// comes from stands in its file in devices/.
struct DeviceModel {
  DeviceInfo info;
  int max_warps_per_sm = 0;
  int max_ctas_per_sm = 0;
  int registers_per_sm = 0;
  int register_unit_per_warp = 0;  ///< registers are allocated to warps in this granularity
  int shared_bytes_per_sm = 0;
  int reserved_shared_bytes = 0;  ///< taken by the system from every CTA
  int shared_unit_bytes = 0;
  // Of an SM and clock.
  double f16_flops_per_clock = 0;        ///< dense, mma.sync
  double fp8_flops_per_clock = 0;        ///< 0: no e4m3 mma.sync
  double wgmma_f16_flops_per_clock = 0;  ///< 0: no wgmma
  double wgmma_fp8_flops_per_clock = 0;
  double fma_per_clock = 0;  ///< f32 lanes
  double alu_per_clock = 0;  ///< integer and logic lanes
  double mufu_per_clock = 0;
  double convert_per_clock = 0;
  double fp64_per_clock = 0;
  MachineRates rates;  ///< what does not follow from the figures above
};

/// A file of figures as it travels inside the programs.
struct DeviceFile {
  std::string_view name;
  std::string_view text;
};

[[nodiscard]] std::span<const DeviceFile> device_files();

/// Reads the text of such a file. Throws InputError naming file, key, value and what is allowed,
/// also where a figure has no source.
[[nodiscard]] DeviceModel read_device_model(const std::string& text, const std::string& file);

/// The model with another value of a figure, named as in its file. Throws InputError.
[[nodiscard]] DeviceModel with_figure(DeviceModel model, std::string_view key, double value);

/// "virtual:l4", "virtual:a100", "virtual:h200".
[[nodiscard]] std::vector<std::string> device_ids();

/// The model of one of device_ids(). Throws InputError for another id, listing these.
[[nodiscard]] const DeviceModel& device_model(std::string_view id);

/// What the simulation of an SM works with.
[[nodiscard]] MachineRates machine_rates(const DeviceModel& model);

/// What limits the resident CTAs of an SM.
struct Occupancy {
  int ctas_per_sm = 0;
  std::string_view limit;  ///< "registers", "shared memory", "warps" or "CTAs"
};

/// By the rules of cuda_occupancy.h. `registers`: per thread, 0 when unknown.
[[nodiscard]] Occupancy occupancy(const DeviceModel& model, int registers, int threads,
                                  int shared_bytes);

}  // namespace evo::ptx
