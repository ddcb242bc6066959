#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/device/device.hpp"
#include "engine/device/virtual/timing/prediction.hpp"

namespace evo {

/// Options of the virtual GPU.
struct VirtualOptions {
  int threads = 0;               ///< host threads; 0: as many as the host has
  bool checks = true;            ///< checks races and uninitialised data; bounds are always checked
  std::uint64_t seed = 1;        ///< determines the order in which warps run
  std::size_t max_hazards = 32;  ///< limit of different hazards reported for a launch
  /// warp instructions without progress after which a livelock is reported
  std::uint64_t stall_budget = 64'000'000;
  /// warp instructions of one CTA after which a livelock is reported
  std::uint64_t issue_budget = 20'000'000'000;
};

/// The operations of a launch, over all its steps.
struct VirtualStatistics {
  std::uint64_t ctas = 0;
  std::uint64_t warp_instructions = 0;
  double seconds = 0;
};

/// A device that executes PTX on the CPU, performs checks that a card does not, and predicts times.
class VirtualDevice : public Device {
 public:
  /// Changes the order in which warps run.
  virtual void set_seed(std::uint64_t seed) = 0;
  /// Counts of the last launch.
  [[nodiscard]] virtual const VirtualStatistics& statistics() const = 0;
  /// For each step of the last prediction.
  [[nodiscard]] virtual const std::vector<ptx::PredictedLaunch>& predictions() const = 0;
  /// The printed text of the last launch in the order of its CTAs, also if the launch failed. At
  /// most 1 MiB, with a line about dropped text.
  [[nodiscard]] virtual const std::string& printed() const = 0;
};

/// `id`: "virtual:l4", "virtual:a100" or "virtual:h200". Throws InputError for another id.
[[nodiscard]] std::unique_ptr<VirtualDevice> open_virtual_device(
    std::string_view id, const VirtualOptions& options = {});

}  // namespace evo
