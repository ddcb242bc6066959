#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "engine/worker/file_descriptor.hpp"
#include "engine/worker/limits.hpp"

namespace evo {

/// How a worker process ended.
struct Ending {
  /// True if a signal from another process (of the user, or of the system when memory is short)
  /// ended or stopped the process, or if the host of the process is unreachable. False for signals
  /// that a program causes itself, such as SIGSEGV.
  bool killed_from_outside = false;
  std::string text;    ///< "exit code 3", "signal 11 (Segmentation fault)"
  int exit_code = -1;  ///< -1: the process did not exit by itself
};

/// A child process whose standard input and output are one socket. The child process is killed when
/// its parent dies or the ChildProcess is destroyed. Create objects on the main thread only,
/// because Linux kills the child when the thread that created it ends.
class ChildProcess {
 public:
  /// Starts `program`. `socket`: the child's end of a socket pair. Throws MissingError if the
  /// system cannot create a process. If it cannot execute `program`, the process ends with exit
  /// code 127.
  ChildProcess(const std::filesystem::path& program, const std::vector<std::string>& arguments,
               const WorkerLimits& limits, FileDescriptor socket);
  ~ChildProcess();
  ChildProcess(ChildProcess&& other) noexcept : process_(std::exchange(other.process_, -1)) {}

  /// The process id; -1 if the process does not run.
  [[nodiscard]] int number() const { return process_; }
  /// CPU time that the process has used; 0 if the process does not run.
  [[nodiscard]] std::chrono::nanoseconds processor_time() const;
  /// Kills the process if it still runs, and returns how it ended. If the process waits inside a
  /// driver and does not end, gives up after ten seconds. `is_ending`: the process is about to end
  /// by itself, so kill() first waits a short time for its end.
  Ending kill(bool is_ending);

 private:
  int process_ = -1;
};

/// The two ends of a new connection. Child processes inherit neither end. `type`: SOCK_STREAM or
/// SOCK_SEQPACKET. Throws MissingError if the system cannot create sockets.
[[nodiscard]] std::pair<FileDescriptor, FileDescriptor> socket_pair(int type);

}  // namespace evo
