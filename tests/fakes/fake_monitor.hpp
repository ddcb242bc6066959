#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/device/gpu_monitor.hpp"

namespace evo::fake {

/// Implements GpuMonitor, the interface that reports clocks, energy and other processes of a GPU.
/// The test chooses the reported values.
class FakeMonitor final : public GpuMonitor {
 public:
  [[nodiscard]] GpuPace pace() override { return on_pace ? on_pace(looks++) : GpuPace{}; }
  [[nodiscard]] GpuCondition condition() override { return state; }
  [[nodiscard]] std::vector<std::string> other_processes() override { return others; }
  [[nodiscard]] std::optional<double> busy_percent() override {
    return on_busy ? on_busy() : std::nullopt;
  }
  [[nodiscard]] std::optional<double> energy_mj() override {
    return on_energy ? on_energy() : std::nullopt;
  }

  std::function<GpuPace(int look)> on_pace = {};
  std::function<std::optional<double>()> on_busy = {};
  std::function<std::optional<double>()> on_energy = {};
  GpuCondition state = {};
  std::vector<std::string> others = {};
  int looks = 0;
};

}  // namespace evo::fake
