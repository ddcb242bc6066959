#include "engine/device/cuda/nvml.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "engine/device/cuda/nvml_functions.hpp"

namespace evo {

/// The functions that this driver has; null for others.
struct NvmlMonitor::Library {
  void* handle = nullptr;
  nvml::Shutdown shutdown = nullptr;
  nvml::GetClockInfo clock_info = nullptr;
  nvml::GetEventReasons event_reasons = nullptr;
  nvml::GetTemperature temperature = nullptr;
  nvml::GetPowerUsage power_usage = nullptr;
  nvml::GetTotalEnergy total_energy = nullptr;
  nvml::GetUtilization utilization = nullptr;
  nvml::GetProcesses processes = nullptr;
  nvml::Device device = nullptr;

  template <typename Function>
  void find(Function& function, const char* name) const {
    function = reinterpret_cast<Function>(dlsym(handle, name));
  }

  void find_all() {
    find(shutdown, "nvmlShutdown");
    find(clock_info, "nvmlDeviceGetClockInfo");
    // The same under its newer and its older name.
    find(event_reasons, "nvmlDeviceGetCurrentClocksEventReasons");
    if (event_reasons == nullptr) {
      find(event_reasons, "nvmlDeviceGetCurrentClocksThrottleReasons");
    }
    find(temperature, "nvmlDeviceGetTemperature");
    find(power_usage, "nvmlDeviceGetPowerUsage");
    find(total_energy, "nvmlDeviceGetTotalEnergyConsumption");
    find(utilization, "nvmlDeviceGetUtilizationRates");
    find(processes, "nvmlDeviceGetComputeRunningProcesses_v3");
  }

  [[nodiscard]] std::optional<double> clock_mhz(int which) const {
    unsigned mhz = 0;
    if (clock_info == nullptr || clock_info(device, which, &mhz) != nvml::kSuccess) return {};
    return mhz;
  }

  /// Numbers of the processes with a context on the card.
  [[nodiscard]] std::vector<unsigned> process_numbers() const {
    constexpr unsigned kRoom = 64;
    if (processes == nullptr) return {};
    std::vector<nvml::ProcessInfo> infos(kRoom);
    unsigned count = kRoom;
    int result = processes(device, &count, infos.data());
    if (result == nvml::kInsufficientSize) {
      infos.resize(std::size_t{count} + kRoom);
      count = static_cast<unsigned>(infos.size());
      result = processes(device, &count, infos.data());
    }
    if (result != nvml::kSuccess) return {};
    std::vector<unsigned> numbers;
    for (std::size_t i = 0; i < std::min<std::size_t>(count, infos.size()); ++i) {
      numbers.push_back(infos[i].pid);
    }
    return numbers;
  }
};

namespace {

bool has_number(const std::vector<unsigned>& numbers, unsigned number) {
  return std::ranges::find(numbers, number) != numbers.end();
}

/// Another worker of the same program, such as one that was killed and is not quite gone.
bool is_sibling(unsigned number) {
  std::ifstream file(fmt::format("/proc/{}/stat", number));
  std::string text;
  if (!std::getline(file, text)) return false;
  // "pid (name) state parent …"; the name may hold anything.
  const std::size_t behind_name = text.rfind(')');
  if (behind_name == std::string::npos) return false;
  std::istringstream fields(text.substr(behind_name + 1));
  std::string state;
  pid_t parent = 0;
  fields >> state >> parent;
  return parent == getppid();
}

/// "4711 (python3)", or the number alone where the process cannot be seen from here.
std::string process_text(unsigned number) {
  std::ifstream file(fmt::format("/proc/{}/comm", number));
  std::string name;
  if (!std::getline(file, name) || name.empty()) return std::to_string(number);
  return fmt::format("{} ({})", number, name);
}

}  // namespace

std::unique_ptr<NvmlMonitor> NvmlMonitor::open(const std::string& pci_bus_id, const char* library) {
  auto found = std::make_unique<Library>();
  found->handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);  // stays open: a driver never goes
  if (found->handle == nullptr) return nullptr;
  nvml::Init init = nullptr;
  nvml::GetHandleByPciBusId by_bus_id = nullptr;
  found->find(init, "nvmlInit_v2");
  found->find(by_bus_id, "nvmlDeviceGetHandleByPciBusId_v2");
  found->find_all();
  if (init == nullptr || by_bus_id == nullptr || found->shutdown == nullptr) return nullptr;
  if (init() != nvml::kSuccess) return nullptr;
  if (by_bus_id(pci_bus_id.c_str(), &found->device) != nvml::kSuccess) {
    found->shutdown();
    return nullptr;
  }
  return std::unique_ptr<NvmlMonitor>(new NvmlMonitor(std::move(found)));
}

NvmlMonitor::NvmlMonitor(std::unique_ptr<Library> library)
    : library_(std::move(library)),
      before_(library_->process_numbers()),
      own_(static_cast<unsigned>(getpid())) {}

NvmlMonitor::~NvmlMonitor() { library_->shutdown(); }

void NvmlMonitor::find_own_process() {
  const std::vector<unsigned> now = library_->process_numbers();
  if (has_number(now, own_)) return;
  std::vector<unsigned> fresh;
  std::ranges::copy_if(now, std::back_inserter(fresh),
                       [&](unsigned number) { return !has_number(before_, number); });
  if (fresh.size() == 1) own_ = fresh.front();
}

CardPace NvmlMonitor::pace() {
  CardPace pace{.sm_clock_mhz = library_->clock_mhz(nvml::kClockSm)};
  unsigned long long reasons = 0;
  if (library_->event_reasons == nullptr ||
      library_->event_reasons(library_->device, &reasons) != nvml::kSuccess) {
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

CardCondition NvmlMonitor::condition() {
  constexpr double kMilliwatts = 1000;
  CardCondition condition{.memory_clock_mhz = library_->clock_mhz(nvml::kClockMemory)};
  unsigned value = 0;
  if (library_->temperature != nullptr &&
      library_->temperature(library_->device, nvml::kTemperatureGpu, &value) == nvml::kSuccess) {
    condition.temperature_c = value;
  }
  if (library_->power_usage != nullptr &&
      library_->power_usage(library_->device, &value) == nvml::kSuccess) {
    condition.power_w = value / kMilliwatts;
  }
  return condition;
}

std::vector<std::string> NvmlMonitor::other_processes() {
  std::vector<std::string> texts;
  for (const unsigned number : library_->process_numbers()) {
    if (number != own_ && !is_sibling(number)) texts.push_back(process_text(number));
  }
  return texts;
}

std::optional<double> NvmlMonitor::busy_percent() {
  nvml::Utilization utilization{};
  if (library_->utilization == nullptr ||
      library_->utilization(library_->device, &utilization) != nvml::kSuccess) {
    return std::nullopt;
  }
  return utilization.gpu;
}

std::optional<double> NvmlMonitor::energy_mj() {
  unsigned long long millijoules = 0;
  if (library_->total_energy == nullptr ||
      library_->total_energy(library_->device, &millijoules) != nvml::kSuccess) {
    return std::nullopt;
  }
  return static_cast<double>(millijoules);
}

}  // namespace evo
