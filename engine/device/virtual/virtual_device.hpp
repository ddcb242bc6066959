#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/device/device.hpp"
#include "engine/device/virtual/timing/prediction.hpp"

namespace evo {

/// How the virtual GPU runs kernels.
struct VirtualOptions {
  int threads = 0;               ///< host threads; 0: as many as the host has
  bool checks = true;            ///< races and uninitialised data; bounds are always checked
  std::uint64_t seed = 1;        ///< order in which warps run; another seed, another order
  std::size_t max_hazards = 32;  ///< different ones reported for a launch
  std::uint64_t stall_budget = 64'000'000;  ///< warp instructions without any progress: livelock
  std::uint64_t issue_budget = 20'000'000'000;  ///< warp instructions of one CTA: livelock
};

/// What a launch executed, all its steps.
struct VirtualStatistics {
  std::uint64_t ctas = 0;
  std::uint64_t warp_instructions = 0;
  double seconds = 0;
};

/// A device that executes PTX on the CPU, checks what a card does not, and predicts times.
class VirtualDevice : public Device {
 public:
  /// Changes the order in which warps run.
  virtual void set_seed(std::uint64_t seed) = 0;
  /// Of the last launch.
  [[nodiscard]] virtual const VirtualStatistics& statistics() const = 0;
  /// Of each step of the last prediction.
  [[nodiscard]] virtual const std::vector<ptx::PredictedLaunch>& predictions() const = 0;
  /// What the kernel of the last launch printed with printf, in the order of its CTAs, also when it
  /// failed; at most 1 MiB, and a line about what was dropped.
  [[nodiscard]] virtual const std::string& printed() const = 0;
};

/// `id`: "virtual:l4", "virtual:a100" or "virtual:h200". Throws InputError for another.
[[nodiscard]] std::unique_ptr<VirtualDevice> open_virtual_device(
    std::string_view id, const VirtualOptions& options = {});

}  // namespace evo
