#include "engine/device/virtual/timing/device_model.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "engine/core/error.hpp"
#include "engine/core/suggestion.hpp"
#include "engine/device/virtual/decode/registers.hpp"

namespace evo::ptx {
namespace {

const std::vector<DeviceModel>& models() {
  static const std::vector<DeviceModel> all = [] {
    std::vector<DeviceModel> read;
    for (const DeviceFile& file : device_files())
      read.push_back(read_device_model(std::string(file.text), std::string(file.name)));
    return read;
  }();
  return all;
}

int round_up(int value, int unit) { return (value + unit - 1) / unit * unit; }

}  // namespace

std::vector<std::string> device_ids() {
  std::vector<std::string> ids;
  for (const DeviceModel& model : models()) ids.push_back(model.info.id);
  return ids;
}

const DeviceModel& device_model(std::string_view id) {
  for (const DeviceModel& model : models()) {
    if (model.info.id == id) return model;
  }
  throw InputError(unknown_name("virtual device", id, device_ids()));
}

MachineRates machine_rates(const DeviceModel& model) {
  constexpr double kSubCores = 4;
  constexpr double kLanes = kSubCores * kWarpSize;
  constexpr int kHopper = 90;
  MachineRates rates = model.rates;
  rates.sms = model.info.sm_count;
  rates.clock_mhz = model.info.clock_mhz;
  rates.is_sm90 = std::stoi(model.info.arch.substr(std::string_view("sm_").size())) >= kHopper;
  rates.fma = kLanes / model.fma_per_clock;
  rates.fma_heavy = 2;
  rates.half = rates.fma;
  rates.alu = kLanes / model.alu_per_clock;
  rates.transform = kLanes / model.mufu_per_clock;
  rates.pack = kLanes / model.convert_per_clock;
  rates.fp64 = kLanes / model.fp64_per_clock;
  rates.tensor_flops = model.f16_flops_per_clock / kSubCores;
  rates.gmma_flops = model.wgmma_f16_flops_per_clock / kSubCores;
  rates.l2_capacity = static_cast<double>(model.info.l2_bytes);
  rates.dram_bytes = rates.dram_reached * model.info.peak_bandwidth_gbs * 1e3 /
                     model.info.clock_mhz / model.info.sm_count;
  return rates;
}

Occupancy occupancy(const DeviceModel& model, int registers, int threads, int shared_bytes) {
  const int warps = std::max((threads + 31) / 32, 1);
  Occupancy best{model.max_ctas_per_sm, "CTAs"};
  const auto limit = [&](int ctas, std::string_view name) {
    if (ctas < best.ctas_per_sm) best = {ctas, name};
  };
  limit(model.max_warps_per_sm / warps, "warps");
  if (registers > 0) {
    // Each of an SM's four sub-cores has its own registers, so the limit is computed for one
    // sub-core.
    constexpr int kSubCores = 4;
    const int per_warp = round_up(registers * 32, model.register_unit_per_warp);
    const int warps_by_registers = model.registers_per_sm / kSubCores / per_warp * kSubCores;
    limit(warps_by_registers / warps, "registers");
  }
  const int shared = round_up(shared_bytes + model.reserved_shared_bytes, model.shared_unit_bytes);
  limit(model.shared_bytes_per_sm / shared, "shared memory");
  best.ctas_per_sm = std::max(best.ctas_per_sm, 0);
  return best;
}

}  // namespace evo::ptx
