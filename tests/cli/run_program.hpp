#pragma once

#include <filesystem>
#include <string>

namespace evo {

struct ProgramResult {
  int exit_code = -1;  ///< 128 + the signal's number when one ended it
  std::string out;
  std::string err;
};

/// Runs one of the project's programs ("evo-elite --json …") in the shell and waits for it.
/// `folder`: its working folder. `prefix`: text before the program, for example "env NAME=VALUE ".
/// Throws std::runtime_error if the program cannot be started.
[[nodiscard]] ProgramResult run_program(const std::string& command, const std::string& folder,
                                        const std::string& prefix = {});

/// The folder of the project's programs: the folder of the running test, so that a build folder may
/// be moved.
[[nodiscard]] std::filesystem::path program_folder();

/// The project's sources: the environment variable EVO_SOURCE_DIR, else the source folder of the
/// build.
[[nodiscard]] std::filesystem::path source_folder();

/// A program that runs in parallel to the test. The destructor kills it.
class RunningProgram {
 public:
  /// Starts a program without a shell. `prefix`: a list of NAME=VALUE. Other arguments: see
  /// run_program().
  RunningProgram(const std::string& command, const std::string& folder,
                 const std::string& prefix = {});
  ~RunningProgram();
  RunningProgram(const RunningProgram&) = delete;
  RunningProgram& operator=(const RunningProgram&) = delete;

  /// The next line of the program's standard output; "" at the end.
  [[nodiscard]] std::string read_line();
  void send(int signal) const;
  [[nodiscard]] int process() const { return process_; }
  /// False once the program has ended, even if wait() was not called yet.
  [[nodiscard]] bool is_running() const;
  /// Reads the output to its end and waits for the program. Returns the exit code, or 128 + the
  /// number of the signal that ended the program.
  [[nodiscard]] int wait();

 private:
  int process_ = -1;
  int output_ = -1;
  std::string pending_;
};

/// Sends the signal once a program with --json has reported `evaluations` evaluations. Returns the
/// result of wait().
[[nodiscard]] int stop_after_evaluations(RunningProgram& program, int evaluations, int signal);

}  // namespace evo
