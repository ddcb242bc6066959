#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/device/virtual/checks/race_checker.hpp"

namespace evo::ptx {

/// Finds accesses to global memory that precede griddepcontrol.wait. A GridWait object is for one
/// CTA of a kernel that may start while the previous kernel of the stream still runs. A thread may
/// access memory that the previous kernel writes if the thread has executed griddepcontrol.wait, or
/// if a barrier orders the thread after a thread that has executed griddepcontrol.wait.
class GridWait {
 public:
  /// Clears all records, so that a new CTA can run.
  void reset(int warps);

  /// Records that `lanes` of the warp executed griddepcontrol.wait at the warp's time `now`.
  void waited(int warp, std::uint32_t lanes, std::uint32_t now);
  /// Records that bulk copies, which threads issued after a griddepcontrol.wait, completed at
  /// `time` in entry number `copies` of the vector clock.
  void arrived(int copies, std::uint32_t time);

  /// The lanes among `lanes` whose next access is not ordered after a griddepcontrol.wait.
  [[nodiscard]] std::uint32_t early(RaceChecker& races, int warp, std::uint32_t lanes) {
    const std::uint32_t open = lanes & ~ordered_[static_cast<std::size_t>(warp)];
    return open == 0 ? 0 : still_early(races, warp, open);
  }

 private:
  [[nodiscard]] std::uint32_t still_early(RaceChecker& races, int warp, std::uint32_t open);

  using Times = std::array<std::uint32_t, kWarpSize>;
  /// For each entry of the vector clock: the first time after a griddepcontrol.wait, or 0 if no
  /// wait was recorded.
  std::array<std::uint32_t, kClocks> first_{};
  std::vector<Times> lanes_;            ///< [warp][lane]: time of the first wait; 0: none
  std::vector<std::uint32_t> ordered_;  ///< by warp: lanes known to be ordered after a wait
};

/// The lanes among `lanes` that access global memory before a griddepcontrol.wait; none if the
/// kernel starts after the previous kernel has ended, or if the launch is not checked.
[[nodiscard]] std::uint32_t early_lanes(Warp& warp, std::uint32_t lanes);
/// Reports an access before griddepcontrol.wait. `access` describes the access, for example as
/// "read of byte 0 of 'x' (64 bytes)".
void report_early(Warp& warp, int lane, const std::string& access);

}  // namespace evo::ptx
