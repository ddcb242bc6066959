#pragma once

#include <string>
#include <vector>

namespace evo {

/// A child process of evo-tune: a compile worker or a device worker.
struct ChildProcess {
  int id = 0;
  std::string role;  ///< the first argument of its program: "compile" or "device"
};

/// The child processes of `process`, read from /proc; empty if `process` has ended.
[[nodiscard]] std::vector<ChildProcess> children_of(int process);

/// The memory of a process in KiB: the line `figure` ("VmRSS" or "VmHWM") of /proc/PROCESS/status;
/// 0 if the process has ended.
[[nodiscard]] long memory_kib(int process, const std::string& figure);

}  // namespace evo
