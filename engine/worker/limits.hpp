#pragma once

#include <cstdint>
#include <string>

namespace evo {

/// The limits of a worker process. An address space of 0 bytes means no limit.
struct WorkerLimits {
  std::uint64_t address_space_bytes = 0;
  /// If false, the process cannot write to files, and starts without LD_PRELOAD.
  bool writes_files = true;
  /// If true, the process has a lower CPU priority than other processes.
  bool gives_way = false;
};

/// Sets the limits of the calling process and disables core files. Calls only functions that are
/// allowed between fork and exec.
void apply_limits(const WorkerLimits& limits);

/// Memory limit of each of `jobs` compilers: an equal share of half of the machine's memory, but at
/// least 1 GiB, which a compiler needs, and at most 4 GiB.
[[nodiscard]] std::uint64_t compiler_memory_bytes(std::size_t jobs);

/// Memory limit of a process that interprets kernels: three quarters of the machine's memory.
[[nodiscard]] std::uint64_t interpreter_memory_bytes();

/// The limit of the calling process's address space in bytes; 0 if it has no limit.
[[nodiscard]] std::uint64_t address_space_limit();

/// True if the calling process has once been close to the limit of its address space.
[[nodiscard]] bool was_near_memory_limit();

/// A size as text for messages: "4.0 GB".
[[nodiscard]] std::string memory_text(std::uint64_t bytes);

}  // namespace evo
