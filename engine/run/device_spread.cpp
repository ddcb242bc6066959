#include "engine/run/device_spread.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace evo {

Task<std::vector<DeviceTime>> time_on_each_device(Workbench& bench, KernelUnderTest kernel) {
  std::vector<DeviceTime> times;
  for (std::size_t i = 0; i < bench.devices().size(); ++i) {
    if (bench.devices().is_lost(i)) continue;
    HomeDevice device = co_await bench.device(i);
    if (const auto timing = co_await device.time_again(kernel, true)) {
      times.push_back({bench.devices().info(i).id, timing->p50_us});
    }
  }
  co_return times;
}

std::string spread_text(const std::vector<DeviceTime>& times) {
  constexpr double kPercent = 100;
  if (times.size() < 2) return {};
  std::string list;
  for (const DeviceTime& one : times) {
    list += fmt::format("{}{} {:.2f} µs", list.empty() ? "" : ", ", one.device, one.p50_us);
  }
  const auto [fastest, slowest] = std::ranges::minmax_element(times, {}, &DeviceTime::p50_us);
  return fmt::format("{}: they differ by {:.1f} %", list,
                     kPercent * (slowest->p50_us / fastest->p50_us - 1));
}

}  // namespace evo
