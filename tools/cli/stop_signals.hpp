#pragma once

#include <atomic>

namespace evo {

/// Installs handlers. The first SIGINT, SIGTERM or SIGHUP requests an orderly end of the run, with
/// all results saved. Further signals within a second count as the same request. A later signal, or
/// a first signal while there is nothing to save, ends the process at once with a message and
/// ExitCode::kInterrupted; the database survives a kill at any instant. Ignored signals stay
/// ignored.
void handle_stop_signals();

/// Whether a signal has requested the end of the run.
[[nodiscard]] const std::atomic<bool>& stop_requested();

void tell_there_is_something_to_save();

}  // namespace evo
