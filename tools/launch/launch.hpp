#pragma once

#include <string>
#include <vector>

// Launchers start evo-worker on other hosts. Each launcher has its own file in this folder. The
// started evo-worker connects to evo-tune by itself.

namespace evo {

/// The settings for every launcher.
struct LaunchRequest {
  std::string worker;   ///< path of the evo-worker program on this host
  std::string address;  ///< HOST:PORT to which workers connect
  std::string device;   ///< devices of each started evo-worker: "auto", "virtual:l4"
  std::string jobs;     ///< compilers per host: a number, or "all"
};

/// A program to start on this machine. The program's environment contains the key of the run
/// (EVO_WORKER_KEY).
struct LaunchCommand {
  std::vector<std::string> words;
  /// also pass the key of the run by standard input, because ssh, for example, does not pass the
  /// environment
  bool key_on_input = false;
};

/// "ssh:FILE": starts evo-worker on every host in the file. A '#' begins a comment. Any other line
/// has the form "HOST", optionally followed by device=LIST, jobs=N, program=PATH, tunnel=PORT (the
/// worker connects through a tunnel in the ssh connection). Throws InputError.
[[nodiscard]] std::vector<LaunchCommand> ssh_commands(const std::string& file,
                                                      const LaunchRequest& request);
/// "slurm" uses the Slurm allocation in which evo-tune runs; "slurm:ARGUMENTS" (`makes_one`)
/// requests an allocation by salloc with these arguments. Starts one step with a task for each GPU,
/// and one step for the compilers: with jobs "all", one compiler for each remaining core. Throws
/// InputError for "slurm" outside of an allocation.
[[nodiscard]] std::vector<LaunchCommand> slurm_commands(const std::string& arguments,
                                                        bool makes_one,
                                                        const LaunchRequest& request);
/// "ray:ADDRESS": starts one Ray actor for each GPU, and one for the other cores of each node.
[[nodiscard]] std::vector<LaunchCommand> ray_commands(const std::string& address,
                                                      const LaunchRequest& request);
/// The command of --launch: replaces "{worker}" in the text by evo-worker with its arguments.
/// Throws InputError if "{worker}" is missing.
[[nodiscard]] std::vector<LaunchCommand> own_commands(const std::string& text,
                                                      const LaunchRequest& request);
/// Parses the value of --workers. Throws InputError for an unknown launcher.
[[nodiscard]] std::vector<LaunchCommand> worker_commands(const std::string& text,
                                                         const LaunchRequest& request);

/// Quotes one word for a shell.
[[nodiscard]] std::string shell_word(const std::string& text);

/// The running launchers. The destructor asks each launcher to end, and kills launchers that do not
/// end.
class Launched {
 public:
  /// Starts the launchers. Throws MissingError if a process cannot be created. A launcher whose
  /// program is missing ends with exit code 127, which ending() reports.
  Launched(const std::vector<LaunchCommand>& commands, const std::string& key);
  ~Launched();
  Launched(const Launched&) = delete;
  Launched& operator=(const Launched&) = delete;

  /// A text that says how the launchers ended; empty while a launcher runs, and if there is none.
  [[nodiscard]] std::string ending();

 private:
  struct Started {
    int process = -1;
    std::string name;
  };
  void collect();

  std::vector<Started> running_;
  std::string endings_;
};

}  // namespace evo
