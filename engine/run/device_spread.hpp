#pragma once

#include <string>
#include <vector>

#include "engine/evaluate/workbench.hpp"

namespace evo {

/// The kind of a StoredEvent that says how much a kernel's times differ between the run's devices.
inline constexpr std::string_view kDeviceSpreadEvent = "device spread";

/// The time of a kernel on one device.
struct DeviceTime {
  std::string device;  ///< for example "cuda:1"
  double p50_us = 0;
};

/// Times the kernel precisely on each usable device of the run, on the run's first shape. Skips a
/// device on which the kernel fails.
Task<std::vector<DeviceTime>> time_on_each_device(Workbench& bench, KernelUnderTest kernel);

/// Text such as "cuda:0 5.91 µs, cuda:1 5.95 µs: they differ by 0.7 %"; empty for a single time.
[[nodiscard]] std::string spread_text(const std::vector<DeviceTime>& times);

}  // namespace evo
