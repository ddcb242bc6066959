#pragma once

#include <string_view>

namespace evo {

/// How a kernel must be launched, by its PTX.
struct LaunchAttributes {
  /// The kernel reads the address of the grid's workspace (%envreg1, %envreg2): it synchronises its
  /// CTAs with cooperative groups' grid.sync(), so all of them must be resident at once.
  bool cooperative = false;
  /// The kernel executes griddepcontrol.wait: it may start while the kernel before it in the stream
  /// still runs (programmatic dependent launch).
  bool programmatic = false;

  [[nodiscard]] bool operator==(const LaunchAttributes&) const = default;
};

/// The attributes of `entry`, with the functions that it may call.
[[nodiscard]] LaunchAttributes launch_attributes(std::string_view ptx, std::string_view entry);

}  // namespace evo
