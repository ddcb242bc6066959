#include "engine/device/cuda/nvml.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace evo {

namespace {

bool has_number(const std::vector<unsigned>& numbers, unsigned number) {
  return std::ranges::find(numbers, number) != numbers.end();
}

/// True if process `number` has the same parent as this process: another worker, such as a killed
/// one that has not ended yet.
bool is_sibling(unsigned number) {
  std::ifstream file(fmt::format("/proc/{}/stat", number));
  std::string text;
  if (!std::getline(file, text)) return false;
  // The line in /proc/PID/stat is "pid (name) state parent …"; the name may contain any characters,
  // even ')'.
  const std::size_t behind_name = text.rfind(')');
  if (behind_name == std::string::npos) return false;
  std::istringstream fields(text.substr(behind_name + 1));
  std::string state;
  pid_t parent = 0;
  fields >> state >> parent;
  return parent == getppid();
}

}  // namespace

std::unique_ptr<NvmlMonitor> NvmlMonitor::open(const std::string& pci_bus_id, const char* library) {
  auto found = NvmlLibrary::open(library);
  nvml::Device device = nullptr;
  if (!found || !found->is_ready() || found->by_bus_id == nullptr ||
      found->by_bus_id(pci_bus_id.c_str(), &device) != nvml::kSuccess) {
    return nullptr;
  }
  return std::unique_ptr<NvmlMonitor>(new NvmlMonitor(std::move(found), device));
}

NvmlMonitor::NvmlMonitor(std::unique_ptr<NvmlLibrary> library, nvml::Device device)
    : library_(std::move(library)),
      device_(device),
      before_(library_->process_numbers(device)),
      own_(static_cast<unsigned>(getpid())) {}

NvmlMonitor::~NvmlMonitor() = default;

void NvmlMonitor::find_own_process() {
  const std::vector<unsigned> now = library_->process_numbers(device_);
  if (has_number(now, own_)) return;
  std::vector<unsigned> fresh;
  std::ranges::copy_if(now, std::back_inserter(fresh),
                       [&](unsigned number) { return !has_number(before_, number); });
  if (fresh.size() == 1) own_ = fresh.front();
}

GpuPace NvmlMonitor::pace() {
  GpuPace pace{.sm_clock_mhz = library_->clock_mhz(library_->clock_info, device_, nvml::kClockSm)};
  unsigned long long reasons = 0;
  if (library_->event_reasons == nullptr ||
      library_->event_reasons(device_, &reasons) != nvml::kSuccess) {
    return pace;
  }
  const auto note = [&](unsigned long long bit, Slowdown slowdown) {
    if ((reasons & bit) != 0) pace.slowdowns.push_back(slowdown);
  };
  note(nvml::kSwPowerCap, Slowdown::kPowerCap);
  note(nvml::kHwSlowdown, Slowdown::kHardware);
  note(nvml::kSwThermalSlowdown, Slowdown::kSoftwareThermal);
  note(nvml::kHwThermalSlowdown, Slowdown::kHardwareThermal);
  note(nvml::kHwPowerBrakeSlowdown, Slowdown::kPowerBrake);
  return pace;
}

GpuCondition NvmlMonitor::condition() {
  constexpr double kMilliwatts = 1000;
  GpuCondition condition{
      .memory_clock_mhz = library_->clock_mhz(library_->clock_info, device_, nvml::kClockMemory)};
  unsigned value = 0;
  if (library_->temperature != nullptr &&
      library_->temperature(device_, nvml::kTemperatureGpu, &value) == nvml::kSuccess) {
    condition.temperature_c = value;
  }
  if (library_->power_usage != nullptr &&
      library_->power_usage(device_, &value) == nvml::kSuccess) {
    condition.power_w = value / kMilliwatts;
  }
  return condition;
}

std::vector<std::string> NvmlMonitor::other_processes() {
  std::vector<std::string> texts;
  for (const unsigned number : library_->process_numbers(device_)) {
    if (number != own_ && !is_sibling(number)) texts.push_back(process_text(number));
  }
  return texts;
}

std::optional<double> NvmlMonitor::busy_percent() {
  nvml::Utilization utilization{};
  if (library_->utilization == nullptr ||
      library_->utilization(device_, &utilization) != nvml::kSuccess) {
    return std::nullopt;
  }
  return utilization.gpu;
}

std::optional<double> NvmlMonitor::energy_mj() {
  unsigned long long millijoules = 0;
  if (library_->total_energy == nullptr ||
      library_->total_energy(device_, &millijoules) != nvml::kSuccess) {
    return std::nullopt;
  }
  return static_cast<double>(millijoules);
}

}  // namespace evo
