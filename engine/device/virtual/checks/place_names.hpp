#pragma once

#include <cstdint>
#include <string>

#include "engine/device/virtual/execute/launch_context.hpp"

namespace evo::ptx {

/// Names of the threads and the shared memory of a launch, for reports.
class PlaceNames {
 public:
  explicit PlaceNames(const LaunchContext& launch) : launch_(launch) {}

  /// The name of a thread: "thread (3,0,0) of warp 1".
  [[nodiscard]] std::string thread(int warp, int lane) const;
  /// The name of a place in shared memory: "byte 12 of shared 'tile'".
  [[nodiscard]] std::string shared(std::uint64_t address) const;

 private:
  const LaunchContext& launch_;
};

}  // namespace evo::ptx
