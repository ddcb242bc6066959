#pragma once

#include <cstdint>
#include <string>

#include "engine/device/virtual/execute/launch_context.hpp"

namespace evo::ptx {

/// Names threads and bytes of shared memory in the reports about a launch.
class PlaceNames {
 public:
  explicit PlaceNames(const LaunchContext& launch) : launch_(launch) {}

  /// The name of a thread, such as "thread (3,0,0) of warp 1". If `lane` is not from 0 to 31:
  /// "several threads of warp 1".
  [[nodiscard]] std::string thread(int warp, int lane) const;
  /// The name of a byte of shared memory, such as "byte 12 of shared 'k::tile' (shared byte 1036)",
  /// for the variable `tile` of the function `k`.
  [[nodiscard]] std::string shared(std::uint64_t address) const;

 private:
  const LaunchContext& launch_;
};

}  // namespace evo::ptx
