#pragma once

#include <string>
#include <vector>

namespace evo {

/// A worker of a running program.
struct ChildProcess {
  int id = 0;
  std::string role;  ///< its first argument: "compile" or "device"
};

/// The living children of a process, from /proc; empty if the process has ended.
[[nodiscard]] std::vector<ChildProcess> children_of(int process);

/// A figure in KiB from /proc/PROCESS/status: "VmRSS", "VmHWM"; 0 if the process has ended.
[[nodiscard]] long memory_kib(int process, const std::string& figure);

}  // namespace evo
