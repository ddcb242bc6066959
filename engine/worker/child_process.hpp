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
  /// A signal from outside (the user, the system when memory is short) ended it, not one that it
  /// caused itself. Also true if it was stopped by such a signal when we killed it, or if its host
  /// is unreachable.
  bool killed_from_outside = false;
  std::string text;    ///< "exit code 3", "signal 11 (Segmentation fault)"
  int exit_code = -1;  ///< -1: it did not exit by itself
};

/// A child process whose standard input and output are one socket. It dies with its parent, and
/// with this object. Create it on the main thread only (the kernel ties "dies with its parent" to
/// the creating thread).
class ChildProcess {
 public:
  /// `socket`: the child's end. Throws MissingError when no process can be started.
  ChildProcess(const std::filesystem::path& program, const std::vector<std::string>& arguments,
               const WorkerLimits& limits, FileDescriptor socket);
  ~ChildProcess();
  ChildProcess(ChildProcess&& other) noexcept : process_(std::exchange(other.process_, -1)) {}
  ChildProcess& operator=(ChildProcess&& other) noexcept;

  /// -1 when it does not run.
  [[nodiscard]] int number() const { return process_; }
  /// Processor time of the process; 0 if it does not run.
  [[nodiscard]] std::chrono::nanoseconds processor_time() const;
  /// Kills the process if it still runs, and returns how it ended. Gives up after ten seconds if a
  /// driver keeps the process alive. `is_ending`: waits a moment first, because it ends by itself.
  Ending kill(bool is_ending);

 private:
  int process_ = -1;
};

/// The two ends of a connection; children inherit neither. `type`: SOCK_STREAM or SOCK_SEQPACKET.
/// Throws MissingError.
[[nodiscard]] std::pair<FileDescriptor, FileDescriptor> socket_pair(int type);

}  // namespace evo
