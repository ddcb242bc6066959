#pragma once

namespace evo {

/// The exit code of a process that a library aborted because memory ran out.
inline constexpr int kOutOfMemoryExit = 86;

/// Installs a signal handler that exits with kOutOfMemoryExit if a library, such as LLVM, aborts
/// the process because memory ran out. The handler assumes a lack of memory if a message on
/// standard error mentions memory, or if the address space is nearly full. Otherwise, the signal
/// ends the process as usual. Standard error is buffered until pass_on_messages() or the end of the
/// process. Has no effect if the address space has no limit.
void watch_for_memory_aborts();

/// Writes the buffered messages to standard error. Workers call this function between two requests.
void pass_on_messages();

}  // namespace evo
