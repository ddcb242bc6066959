#pragma once

#include <string>
#include <string_view>

namespace evo {

/// Identifies this process by host, process number and start time.
[[nodiscard]] std::string this_process();

/// Whether the process that `owner` (from an earlier this_process()) identifies still runs.
enum class OwnerState {
  kAlive,
  kGone,        ///< also for a text that identifies no process
  kOnOtherHost  ///< unknown
};

[[nodiscard]] OwnerState state_of(std::string_view owner);

/// True if `owner` (from an earlier this_process()) is another process on this host that is still
/// alive. Processes of other hosts count as dead, because SQLite's write-ahead log does not work
/// across hosts: a database that another host has written must have been copied to this host.
[[nodiscard]] bool is_other_live_process(std::string_view owner);

}  // namespace evo
