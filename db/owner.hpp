#pragma once

#include <string>
#include <string_view>

namespace evo {

/// This process, told apart from any other by host, process number and start time.
[[nodiscard]] std::string this_process();

/// True when `owner` (a this_process() of earlier) is a process other than this one, on this host,
/// and still lives. Processes of other hosts count as dead: the write-ahead log does not work
/// between hosts, so a file last written there has been moved.
[[nodiscard]] bool is_other_live_process(std::string_view owner);

}  // namespace evo
