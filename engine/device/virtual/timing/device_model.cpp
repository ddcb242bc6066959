#include "engine/device/virtual/timing/device_model.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "engine/core/error.hpp"

namespace evo::ptx {
namespace {

constexpr int kKiB = 1024;
constexpr const char* kVersion = "virtual GPU 1";

DeviceModel l4() {
  DeviceModel model;
  model.info = {.id = "virtual:l4",
                .name = "virtual NVIDIA L4",
                .arch = "sm_89",
                .time_kind = TimeKind::kPredicted,
                .sm_count = 58,
                .clock_mhz = 2040,
                .max_registers_per_thread = 255,
                .max_shared_bytes_per_cta = 99 * kKiB,
                .max_threads_per_cta = 1024,
                .l2_bytes = 48LL << 20,
                .peak_tflops = 242,
                .peak_bandwidth_gbs = 300,
                .driver = kVersion};
  model.max_warps_per_sm = 48;
  model.max_ctas_per_sm = 24;
  model.shared_bytes_per_sm = 100 * kKiB;
  model.f16_flops_per_clock = 1024;
  model.fp8_flops_per_clock = 2048;
  model.l1_latency = 36;
  model.l2_latency = 276;
  model.dram_latency = 632;
  return model;
}

DeviceModel a100() {
  DeviceModel model;
  model.info = {.id = "virtual:a100",
                .name = "virtual NVIDIA A100",
                .arch = "sm_80",
                .time_kind = TimeKind::kPredicted,
                .sm_count = 108,
                .clock_mhz = 1410,
                .max_registers_per_thread = 255,
                .max_shared_bytes_per_cta = 163 * kKiB,
                .max_threads_per_cta = 1024,
                .l2_bytes = 40LL << 20,
                .peak_tflops = 312,
                .peak_bandwidth_gbs = 1935,
                .driver = kVersion};
  model.shared_bytes_per_sm = 164 * kKiB;
  model.f16_flops_per_clock = 2048;
  model.fp8_flops_per_clock = 0;
  model.fma_per_clock = 64;
  model.fp64_per_clock = 32;
  model.l1_latency = 36;
  model.l2_latency = 211;
  model.dram_latency = 571;
  model.l2_bytes_per_clock = 5.4e12 / (108 * 1410e6);
  return model;
}

DeviceModel h200() {
  DeviceModel model;
  model.info = {.id = "virtual:h200",
                .name = "virtual NVIDIA H200",
                .arch = "sm_90",
                .time_kind = TimeKind::kPredicted,
                .sm_count = 132,
                .clock_mhz = 1980,
                .max_registers_per_thread = 255,
                .max_shared_bytes_per_cta = 227 * kKiB,
                .max_threads_per_cta = 1024,
                .l2_bytes = 50LL << 20,
                .peak_tflops = 1979,
                .peak_bandwidth_gbs = 4300,
                .driver = kVersion};
  model.shared_bytes_per_sm = 228 * kKiB;
  model.f16_flops_per_clock = 2550;
  model.fp8_flops_per_clock = 2550;  // e4m3 mma.sync is unpacked to f16
  model.wgmma_f16_flops_per_clock = 4096;
  model.wgmma_fp8_flops_per_clock = 8192;
  model.fp64_per_clock = 64;
  model.l1_latency = 38;
  model.l2_latency = 279;
  model.dram_latency = 658;
  model.l2_bytes_per_clock = 9.8e12 / (132 * 1980e6);
  return model;
}

const std::array<DeviceModel, 3>& models() {
  static const std::array<DeviceModel, 3> all = {l4(), a100(), h200()};
  return all;
}

int round_up(int value, int unit) { return (value + unit - 1) / unit * unit; }

}  // namespace

const DeviceModel& device_model(std::string_view id) {
  std::string known;
  for (const DeviceModel& model : models()) {
    if (model.info.id == id) return model;
    known += " " + model.info.id;
  }
  throw InputError("no virtual device '" + std::string(id) + "'; there are:" + known);
}

Occupancy occupancy(const DeviceModel& model, int registers, int threads, int shared_bytes) {
  const int warps = std::max((threads + 31) / 32, 1);
  Occupancy best{model.max_ctas_per_sm, "CTAs"};
  const auto limit = [&](int ctas, std::string_view name) {
    if (ctas < best.ctas_per_sm) best = {ctas, name};
  };
  limit(model.max_warps_per_sm / warps, "warps");
  if (registers > 0) {
    // Registers belong to one of four sub-cores; a warp's share is rounded up.
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
