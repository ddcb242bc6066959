#pragma once

#include <string>
#include <vector>

namespace evo {

/// A worker of a running program.
struct ChildProcess {
  int id = 0;
  std::string role;  ///< its first argument: "compile" or "device"
};

/// The living children of a process, from /proc; empty when it is gone.
[[nodiscard]] std::vector<ChildProcess> children_of(int process);

/// A figure of /proc/PROCESS/status in KiB: "VmRSS", "VmHWM"; 0 when the process is gone.
[[nodiscard]] long memory_kib(int process, const std::string& figure);

}  // namespace evo
