#pragma once

#include <cstdint>
#include <string>

namespace evo {

/// What a worker process may take at most; 0: as much as there is.
struct WorkerLimits {
  std::uint64_t address_space_bytes = 0;
  /// False: the process cannot make a file grow, and nothing is loaded into it by LD_PRELOAD.
  bool writes_files = true;
  /// Where processors are scarce, others go first.
  bool gives_way = false;
};

/// Sets the limits of the calling process; no worker leaves a core file. Only calls that are
/// allowed between fork and exec.
void apply_limits(const WorkerLimits& limits);

/// Memory for each of `jobs` compilers: half of the machine's, shared, but no less than 1 GiB,
/// which a compiler needs, and no more than 4 GiB.
[[nodiscard]] std::uint64_t compiler_memory_bytes(std::size_t jobs);

/// Memory for a process that interprets kernels: three quarters of the machine's.
[[nodiscard]] std::uint64_t interpreter_memory_bytes();

/// The limit of the calling process's address space, 0 when there is none.
[[nodiscard]] std::uint64_t address_space_limit();

/// Whether the calling process has been close to its limit of address space.
[[nodiscard]] bool was_near_memory_limit();

/// "4.0 GB".
[[nodiscard]] std::string memory_text(std::uint64_t bytes);

}  // namespace evo
