#pragma once

namespace evo {

/// The exit code of a process that a library ended because memory ran out.
inline constexpr int kOutOfMemoryExit = 86;

/// If memory runs out and a library ends the calling process by a signal (LLVM aborts), the process
/// exits with kOutOfMemoryExit. Memory has run out if standard error says so, or if the address
/// space is nearly full. Otherwise the signal ends the process, as before. Standard error is held
/// back until pass_on_messages() or the end of the process. Has no effect if the address space has
/// no limit.
void watch_for_memory_aborts();

/// Writes the messages that were held back. Call it between two requests.
void pass_on_messages();

}  // namespace evo
