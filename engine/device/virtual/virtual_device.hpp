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
  int threads = 0;               ///< host threads; 0: one for each CPU of the host
  bool checks = true;            ///< check for races and uninitialised data
  std::uint64_t seed = 1;        ///< of pseudo-random choices, such as the order of warps
  std::size_t max_hazards = 32;  ///< limit of different hazards reported for a step of a launch
  /// limit of a CTA's warp instructions without progress; if it is exceeded, a livelock is reported
  std::uint64_t stall_budget = 64'000'000;
  /// limit of the warp instructions of one CTA; if it is exceeded, a livelock is reported
  std::uint64_t issue_budget = 20'000'000'000;
};

/// How many CTAs and warp instructions were executed, summed over all steps of a launch, and the
/// seconds that this took on the host.
struct VirtualStatistics {
  std::uint64_t ctas = 0;
  std::uint64_t warp_instructions = 0;
  double seconds = 0;
};

/// A device that executes PTX on the CPU, makes checks that a GPU does not make, and predicts
/// times.
class VirtualDevice : public Device {
 public:
  /// How many CTAs and instructions were executed since the last call of launch() or predict_us()
  /// began.
  [[nodiscard]] virtual const VirtualStatistics& statistics() const = 0;
  /// The predicted times of the last prediction, for each step of the launch.
  [[nodiscard]] virtual const std::vector<ptx::PredictedLaunch>& predictions() const = 0;
  /// The text that the last launch printed by printf, in the order of its CTAs, even if the launch
  /// failed. At most 1 MiB of text is kept for each step of the launch; if a step printed more, a
  /// line says so.
  [[nodiscard]] virtual const std::string& printed() const = 0;
};

/// Opens the virtual GPU with the id "virtual:l4", "virtual:a100" or "virtual:h200". Throws
/// InputError for any other id.
[[nodiscard]] std::unique_ptr<VirtualDevice> open_virtual_device(
    std::string_view id, const VirtualOptions& options = {});

}  // namespace evo
