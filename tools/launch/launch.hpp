#pragma once

#include <string>
#include <utility>
#include <vector>

// How workers are started on other hosts. Each launcher is a file of its own here; it only starts
// evo-worker there, which dials back by itself.

namespace evo {

/// What every launcher is told.
struct LaunchRequest {
  std::string worker;   ///< the evo-worker program, as its path is here
  std::string address;  ///< HOST:PORT that workers dial
  std::string device;   ///< of each device worker: "auto", "virtual:l4"
  std::string jobs;     ///< compilers of a host: a number, or "all"
};

/// A program to start on this machine. It has the run's key in its environment (EVO_WORKER_KEY).
struct LaunchCommand {
  std::vector<std::string> words;
  bool key_on_input = false;  ///< the key is its standard input as well: ssh passes no environment
};

/// "ssh:FILE": evo-worker on every host that the file names, a line each: "HOST", then, as they
/// are needed, device=LIST, jobs=N, program=PATH, tunnel=PORT (it dials back through ssh). Throws
/// InputError.
[[nodiscard]] std::vector<LaunchCommand> ssh_commands(const std::string& file,
                                                      const LaunchRequest& request);
/// "slurm" within an allocation, or "slurm:ARGUMENTS" of salloc to make one: one step with a task
/// for each GPU, and one with the cores that are left. Throws InputError outside of an allocation.
[[nodiscard]] std::vector<LaunchCommand> slurm_commands(const std::string& arguments,
                                                        bool makes_one,
                                                        const LaunchRequest& request);
/// "ray:ADDRESS": one actor for each GPU, and one for the cores that are left on each node.
[[nodiscard]] std::vector<LaunchCommand> ray_commands(const std::string& address,
                                                      const LaunchRequest& request);
/// Whatever else: "{worker}" in the text stands for evo-worker with its arguments. Throws
/// InputError where it is missing.
[[nodiscard]] std::vector<LaunchCommand> own_commands(const std::string& text,
                                                      const LaunchRequest& request);
/// The value of --workers. Throws InputError for an unknown launcher.
[[nodiscard]] std::vector<LaunchCommand> worker_commands(const std::string& text,
                                                         const LaunchRequest& request);

/// One word for a shell.
[[nodiscard]] std::string shell_word(const std::string& text);

/// The started launchers. They are asked to end when this goes, and killed when they do not.
class Launched {
 public:
  /// Throws MissingError.
  Launched(const std::vector<LaunchCommand>& commands, const std::string& key);
  ~Launched();
  Launched(const Launched&) = delete;
  Launched& operator=(const Launched&) = delete;

  /// How they ended, when all have ended; empty before. Without any launcher it stays empty.
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
