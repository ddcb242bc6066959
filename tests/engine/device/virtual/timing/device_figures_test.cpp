#include <gtest/gtest.h>

#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/core/error.hpp"
#include "engine/device/virtual/timing/device_model.hpp"

namespace evo::ptx {
namespace {

using OrderedJson = nlohmann::ordered_json;

OrderedJson parsed(const DeviceFile& file) {
  return OrderedJson::parse(file.text.begin(), file.text.end());
}

DeviceModel read(const OrderedJson& json) { return read_device_model(json.dump(), "gpu.json"); }

/// The numbers that the tests of this file compare: limits and rates of the device, and the
/// parameters of the simulation of an SM.
std::vector<double> numbers_of(const DeviceModel& model) {
  const auto& info = model.info;
  std::vector<double> numbers = {static_cast<double>(info.sm_count),
                                 info.clock_mhz,
                                 static_cast<double>(info.max_registers_per_thread),
                                 static_cast<double>(info.max_shared_bytes_per_cta),
                                 static_cast<double>(info.max_threads_per_cta),
                                 static_cast<double>(info.l2_bytes),
                                 info.peak_tflops,
                                 info.peak_bandwidth_gbs,
                                 static_cast<double>(model.max_warps_per_sm),
                                 static_cast<double>(model.max_ctas_per_sm),
                                 static_cast<double>(model.registers_per_sm),
                                 static_cast<double>(model.register_unit_per_warp),
                                 static_cast<double>(model.shared_bytes_per_sm),
                                 static_cast<double>(model.reserved_shared_bytes),
                                 static_cast<double>(model.shared_unit_bytes),
                                 model.fp8_flops_per_clock,
                                 model.wgmma_fp8_flops_per_clock};
  const MachineRates rates = machine_rates(model);
  std::vector<double> of_simulation(sizeof(MachineRates) / sizeof(double));
  std::memcpy(of_simulation.data(), &rates, of_simulation.size() * sizeof(double));
  numbers.insert(numbers.end(), of_simulation.begin(), of_simulation.end());
  return numbers;
}

std::string error_of(const OrderedJson& json) {
  try {
    (void)read(json);
  } catch (const InputError& error) {
    return error.what();
  }
  return "none";
}

TEST(DeviceFigures, EachIsReadAndUsed) {
  ASSERT_EQ(device_files().size(), 3U);
  for (const DeviceFile& file : device_files()) {
    const OrderedJson json = parsed(file);
    const std::vector<double> before = numbers_of(read(json));
    for (const auto& [key, figure] : json["figures"].items()) {
      OrderedJson changed = json;
      changed["figures"][key]["value"] = figure["value"].get<double>() + 1;
      EXPECT_NE(numbers_of(read(changed)), before) << file.name << " " << key;
    }
  }
}

TEST(DeviceFigures, EachHasASourceThatTheFileExplains) {
  for (const DeviceFile& file : device_files()) {
    const OrderedJson json = parsed(file);
    for (const auto& [key, figure] : json["figures"].items()) {
      OrderedJson changed = json;
      changed["figures"][key]["source"] = "hearsay";
      EXPECT_NE(error_of(changed).find("gpu.json: figures." + key + ".source"), std::string::npos)
          << error_of(changed);
      changed["figures"][key].erase("source");
      EXPECT_NE(error_of(changed), "none") << file.name << " " << key;
    }
  }
}

TEST(DeviceFigures, WhatIsWrongIsNamedWithWhatIsAllowed) {
  const OrderedJson json = parsed(device_files().front());
  OrderedJson half = json;
  half["figures"]["sms"]["value"] = 57.5;
  EXPECT_NE(
      error_of(half).find("gpu.json: figures.sms.value: 57.5: allowed: a whole number above 0"),
      std::string::npos)
      << error_of(half);
  OrderedJson none = json;
  none["figures"].erase("l2_write");
  EXPECT_NE(error_of(none).find("l2_write"), std::string::npos) << error_of(none);
  OrderedJson more = json;
  more["figures"]["l3_read"] = json["figures"]["l2_read"];
  EXPECT_NE(error_of(more).find("l3_read"), std::string::npos) << error_of(more);
  OrderedJson unit = json;
  unit["figures"]["clock"]["unit"] = "GHz";
  EXPECT_NE(error_of(unit).find("allowed: MHz"), std::string::npos) << error_of(unit);
  OrderedJson unused = json;
  unused["sources"]["rumours"] = "a blog";
  EXPECT_NE(error_of(unused).find("rumours"), std::string::npos) << error_of(unused);
}

}  // namespace
}  // namespace evo::ptx
