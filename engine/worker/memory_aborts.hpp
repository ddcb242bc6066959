#pragma once

namespace evo {

/// How a process ends that a library ended for want of memory.
inline constexpr int kOutOfMemoryExit = 86;

/// From now on the calling process, whose address space is limited, ends with kOutOfMemoryExit
/// where a library ends it by a signal (LLVM aborts) because memory ran out: it says so on standard
/// error, or the address space is nearly full. Otherwise it ends by that signal, as before. What is
/// written to standard error is held back until pass_on_messages() or such an end. Without a limit
/// nothing is changed.
void watch_for_memory_aborts();

/// Writes what was held back. To be called between two requests.
void pass_on_messages();

}  // namespace evo
