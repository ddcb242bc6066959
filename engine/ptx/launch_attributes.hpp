#pragma once

#include <string_view>

namespace evo {

/// The launch attributes that a kernel needs, as derived from its PTX.
struct LaunchAttributes {
  /// True: the kernel synchronises its CTAs with grid.sync() of cooperative groups, so all CTAs
  /// must be resident at once. A kernel that reads the address of the grid's workspace (%envreg1,
  /// %envreg2) is assumed to use grid.sync().
  bool cooperative = false;
  /// True: the kernel executes griddepcontrol.wait, so it may start while the previous kernel in
  /// the stream still runs (programmatic dependent launch).
  bool programmatic = false;

  [[nodiscard]] bool operator==(const LaunchAttributes&) const = default;
};

/// The launch attributes that `entry`, or a function that it may call, needs.
[[nodiscard]] LaunchAttributes launch_attributes(std::string_view ptx, std::string_view entry);

}  // namespace evo
