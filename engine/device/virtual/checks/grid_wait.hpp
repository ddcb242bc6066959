#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/device/virtual/checks/race_checker.hpp"

namespace evo::ptx {

/// Finds accesses to global memory before griddepcontrol.wait, in one CTA of a kernel that may
/// start while the kernel before it still runs. A thread may access what that kernel writes if it
/// has waited, or if the RaceChecker orders it after a thread that has.
class GridWait {
 public:
  /// Resets the state for a new CTA.
  void reset(int warps);

  /// `lanes` of the warp have waited at the warp's time `now`.
  void waited(int warp, std::uint32_t lanes, std::uint32_t now);
  /// Bulk copies that threads issued after a wait arrived at `time` of the clock `copies`.
  void arrived(int copies, std::uint32_t time);

  /// Those of `lanes` that are not ordered after any wait.
  [[nodiscard]] std::uint32_t early(RaceChecker& races, int warp, std::uint32_t lanes) {
    const std::uint32_t open = lanes & ~ordered_[static_cast<std::size_t>(warp)];
    return open == 0 ? 0 : still_early(races, warp, open);
  }

 private:
  [[nodiscard]] std::uint32_t still_early(RaceChecker& races, int warp, std::uint32_t open);

  using Times = std::array<std::uint32_t, kWarpSize>;
  /// For each clock, the first time after a wait; 0: none yet.
  std::array<std::uint32_t, kClocks> first_{};
  std::vector<Times> lanes_;            ///< [warp][lane]: the time of its first wait; 0: none yet
  std::vector<std::uint32_t> ordered_;  ///< by warp: the lanes known to be ordered after a wait
};

/// Those of `lanes` whose access to global memory comes too early. 0 if the kernel is launched
/// after the one before it has ended, or if the launch is not checked.
[[nodiscard]] std::uint32_t early_lanes(Warp& warp, std::uint32_t lanes);
/// Reports an access that came too early: "read of byte 0 of 'x' (64 bytes)".
void report_early(Warp& warp, int lane, const std::string& access);

}  // namespace evo::ptx
