#pragma once

#include <string_view>

namespace evo {

/// The launch attributes that a kernel needs, derived from its PTX.
struct LaunchAttributes {
  /// The kernel reads the address of the grid's workspace (%envreg1, %envreg2), because it
  /// synchronises its CTAs with grid.sync() of cooperative groups, so all CTAs must be resident at
  /// once.
  bool cooperative = false;
  /// The kernel executes griddepcontrol.wait, so it may start while the previous kernel in the
  /// stream still runs (programmatic dependent launch).
  bool programmatic = false;

  [[nodiscard]] bool operator==(const LaunchAttributes&) const = default;
};

/// The attributes that `entry` and the functions that it may call need.
[[nodiscard]] LaunchAttributes launch_attributes(std::string_view ptx, std::string_view entry);

}  // namespace evo
