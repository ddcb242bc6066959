#pragma once

#include <memory>
#include <optional>
#include <string>

#include "engine/device/card_monitor.hpp"
#include "engine/device/cuda/nvml_library.hpp"

namespace evo {

/// NVML's monitor for the card with this PCI bus id ("0000:65:00.0", as returned by
/// cuDeviceGetPCIBusId()). Null if NVML is missing or does not know the card. Open it before this
/// process creates a context on the card: all processes on the card at that time are others.
class NvmlMonitor final : public CardMonitor {
 public:
  [[nodiscard]] static std::unique_ptr<NvmlMonitor> open(const std::string& pci_bus_id,
                                                         const char* library = kNvmlLibrary);
  ~NvmlMonitor() override;

  /// Call it once this process has its context. In a container, NVML may list this process under
  /// another number; then the process that appeared since open() is taken to be this one.
  void find_own_process();

  [[nodiscard]] CardPace pace() override;
  [[nodiscard]] CardCondition condition() override;
  [[nodiscard]] std::vector<std::string> other_processes() override;
  [[nodiscard]] std::optional<double> busy_percent() override;
  [[nodiscard]] std::optional<double> energy_mj() override;

 private:
  NvmlMonitor(std::unique_ptr<NvmlLibrary> library, nvml::Device device);

  std::unique_ptr<NvmlLibrary> library_;
  nvml::Device device_;
  std::vector<unsigned> before_;  ///< processes on the card before this one
  unsigned own_ = 0;
};

}  // namespace evo
