#pragma once

#include <memory>
#include <optional>
#include <string>

#include "engine/device/card_monitor.hpp"
#include "engine/device/cuda/nvml_library.hpp"

namespace evo {

/// What NVML tells about the card at this PCI bus id, as cuDeviceGetPCIBusId() gives it
/// ("0000:65:00.0"); null where there is no NVML, or it does not know the card. Open it before this
/// process has a context on the card: who is there by then is another one.
class NvmlMonitor final : public CardMonitor {
 public:
  [[nodiscard]] static std::unique_ptr<NvmlMonitor> open(const std::string& pci_bus_id,
                                                         const char* library = kNvmlLibrary);
  ~NvmlMonitor() override;

  /// Call it when this process has its context. A container may know it by another number than the
  /// driver does: then the one that has come since open() is taken for this one.
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
