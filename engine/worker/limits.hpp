#pragma once

#include <cstdint>
#include <string>

namespace evo {

/// The limits of a worker process; 0: no limit.
struct WorkerLimits {
  std::uint64_t address_space_bytes = 0;
  /// False: the process cannot make a file grow, and LD_PRELOAD has no effect on it.
  bool writes_files = true;
  /// True: other processes have priority when processors are scarce.
  bool gives_way = false;
};

/// Sets the limits of the calling process and disables core files. It makes only calls that are
/// allowed between fork and exec.
void apply_limits(const WorkerLimits& limits);

/// Memory for each of `jobs` compilers: an equal share of half of the machine's memory, at least
/// 1 GiB, which a compiler needs, and at most 4 GiB.
[[nodiscard]] std::uint64_t compiler_memory_bytes(std::size_t jobs);

/// Memory for a process that interprets kernels: three quarters of the machine's memory.
[[nodiscard]] std::uint64_t interpreter_memory_bytes();

/// The limit of the calling process's address space, 0 when there is none.
[[nodiscard]] std::uint64_t address_space_limit();

/// Whether the calling process has been close to its limit of address space.
[[nodiscard]] bool was_near_memory_limit();

/// "4.0 GB".
[[nodiscard]] std::string memory_text(std::uint64_t bytes);

}  // namespace evo
