#pragma once

#include <filesystem>
#include <string>

namespace evo {

struct ProgramResult {
  int exit_code = -1;  ///< or 128 + the number of the signal that ended the program
  std::string out;
  std::string err;
};

/// Runs one of the project's programs ("evo-elite --json …") in the shell and waits for its end.
/// `folder`: the program's working folder. `prefix`: shell text before the program, for example
/// "env NAME=VALUE ". Throws std::runtime_error if the shell cannot be started. If there is no such
/// program, the exit code is 127.
[[nodiscard]] ProgramResult run_program(const std::string& command, const std::string& folder,
                                        const std::string& prefix = {});

/// The folder of the project's programs: the folder of the running test, so that the tests also
/// work in a build folder that was moved.
[[nodiscard]] std::filesystem::path program_folder();

/// The root folder of the project's sources: the environment variable EVO_SOURCE_DIR, or the folder
/// from which the test was built.
[[nodiscard]] std::filesystem::path source_folder();

/// A program that runs while the test goes on. The destructor kills it.
class RunningProgram {
 public:
  /// Starts one of the project's programs and returns at once. `prefix`: environment variables,
  /// "NAME=VALUE …". `command` and `folder`: see run_program().
  RunningProgram(const std::string& command, const std::string& folder,
                 const std::string& prefix = {});
  ~RunningProgram();
  RunningProgram(const RunningProgram&) = delete;
  RunningProgram& operator=(const RunningProgram&) = delete;

  /// Reads the next line of the program's standard output; "" at its end.
  [[nodiscard]] std::string read_line();
  void send(int signal) const;
  [[nodiscard]] int process() const { return process_; }
  /// False as soon as the program has ended, even if wait() was not called yet.
  [[nodiscard]] bool is_running() const;
  /// Reads the program's output to its end and waits for the program. Returns the exit code, or 128
  /// + the number of the signal that ended the program.
  [[nodiscard]] int wait();

 private:
  int process_ = -1;
  int output_ = -1;
  std::string pending_;
};

/// Reads the output of `program`, which is evo-tune or evo-record with --json, until the output
/// reports `evaluations` evaluations, and then sends `signal` to the program. Returns the exit
/// code, as RunningProgram::wait() does.
[[nodiscard]] int stop_after_evaluations(RunningProgram& program, int evaluations, int signal);

}  // namespace evo
