#pragma once

#include <atomic>

namespace evo {

/// From here on, the first SIGINT, SIGTERM or SIGHUP asks the run to end in order, with all that it
/// found saved. Further signals within a second of it count as the same request. A later one, and
/// the first while there is nothing to save, ends the process at once with a line that says so and
/// ExitCode::kInterrupted. The database stands a kill at any instant. A signal that was ignored
/// stays so.
void handle_stop_signals();

/// Set by the first signal.
[[nodiscard]] const std::atomic<bool>& stop_requested();

void tell_there_is_something_to_save();

}  // namespace evo
