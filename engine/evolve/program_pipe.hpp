#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>

namespace evo {

/// A program that is spoken to in lines, by its standard input and output. Its standard error is
/// this process's. It runs in a process group of its own and ends with this object.
class ProgramPipe {
 public:
  /// Starts `command` by the shell. Throws InputError when it cannot be started.
  explicit ProgramPipe(std::string command);
  ~ProgramPipe();
  ProgramPipe(const ProgramPipe&) = delete;
  ProgramPipe& operator=(const ProgramPipe&) = delete;

  /// Throws InputError, naming the command, when the program has ended, or has not taken the line
  /// within `limit`.
  void send(const std::string& line, std::chrono::milliseconds limit);

  /// The next line without its end. Throws InputError when the program has ended, has said nothing
  /// within `limit`, or writes a line of more than 64 MiB.
  [[nodiscard]] std::string receive(std::chrono::milliseconds limit);

  /// Throws InputError: the command, and what is wrong with it.
  [[noreturn]] void fail(const std::string& problem) const;

 private:
  /// Waits until the pipe is ready for `events` of poll(). Throws InputError after `limit`.
  void wait_for(short events, std::chrono::milliseconds limit, const char* what) const;
  [[noreturn]] void fail_ended();

  std::string command_;
  int socket_ = -1;
  pid_t child_ = -1;
  std::string pending_;  ///< received and not yet returned
};

}  // namespace evo
