#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>

namespace evo {

/// Starts a program and exchanges lines of text with it through its standard input and output. The
/// program inherits standard error and runs in its own process group. The destructor ends it.
class ProgramPipe {
 public:
  /// Starts `command` in a shell. Throws InputError if the shell cannot be started.
  explicit ProgramPipe(std::string command);
  ~ProgramPipe();
  ProgramPipe(const ProgramPipe&) = delete;
  ProgramPipe& operator=(const ProgramPipe&) = delete;

  /// Sends a line. Throws InputError if the pipe is full and the program does not read from it
  /// within `limit`. If the program has ended, send() does not throw; receive() throws after the
  /// program's last line.
  void send(const std::string& line, std::chrono::milliseconds limit);

  /// Returns the next line without its line end. Throws InputError if the program has ended or
  /// closed its standard output without another line, has written nothing within `limit`, or writes
  /// a line of more than 64 MiB.
  [[nodiscard]] std::string receive(std::chrono::milliseconds limit);

  /// Throws InputError with a message that names the command and says `problem`.
  [[noreturn]] void fail(const std::string& problem) const;

 private:
  /// Waits until poll() reports one of `events` for the pipe. Throws InputError with the message
  /// `what` after `limit`.
  void wait_for(short events, std::chrono::milliseconds limit, const char* what) const;
  [[noreturn]] void fail_ended();

  std::string command_;
  int socket_ = -1;
  pid_t child_ = -1;
  std::string pending_;  ///< received text that was not returned yet
};

}  // namespace evo
