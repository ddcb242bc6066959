#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>

namespace evo {

/// A program with which this process exchanges lines over the program's standard input and output.
/// Both processes share standard error. The program runs in its own process group and ends with
/// this object.
class ProgramPipe {
 public:
  /// Starts `command` in the shell. Throws InputError if the command cannot be started.
  explicit ProgramPipe(std::string command);
  ~ProgramPipe();
  ProgramPipe(const ProgramPipe&) = delete;
  ProgramPipe& operator=(const ProgramPipe&) = delete;

  /// Sends a line. Throws InputError naming the command if the program has ended, or has not read
  /// the line within `limit`.
  void send(const std::string& line, std::chrono::milliseconds limit);

  /// Returns the next line without its line end. Throws InputError if the program has ended, has
  /// written nothing within `limit`, or writes a line of more than 64 MiB.
  [[nodiscard]] std::string receive(std::chrono::milliseconds limit);

  /// Throws InputError with the command and `problem`.
  [[noreturn]] void fail(const std::string& problem) const;

 private:
  /// Waits until the pipe is ready for `events` of poll(). Throws InputError after `limit`.
  void wait_for(short events, std::chrono::milliseconds limit, const char* what) const;
  [[noreturn]] void fail_ended();

  std::string command_;
  int socket_ = -1;
  pid_t child_ = -1;
  std::string pending_;  ///< received text that was not returned yet
};

}  // namespace evo
