#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "engine/core/error.hpp"
#include "engine/worker/child_process.hpp"
#include "engine/worker/run_key.hpp"
#include "tools/launch/launch.hpp"

namespace evo {
namespace {

/// Turns the forked process that calls this function into a launcher. Runs between fork and exec,
/// so only async-signal-safe calls are allowed. The launcher's output goes to standard error,
/// because standard output is for results.
[[noreturn]] void become(char* const* words, char* const* environment, int input, int parent) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(1);
  setpgid(0, 0);  // so that Ctrl-C reaches only evo-tune, which ends the launchers
  dup2(input, STDIN_FILENO);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  execvpe(words[0], words, environment);
  _exit(127);
}

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

std::vector<std::string> environment_with(const std::string& key) {
  std::vector<std::string> variables;
  const std::string name = std::string(kKeyVariable) + "=";
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (!std::string_view(*variable).starts_with(name)) variables.emplace_back(*variable);
  }
  variables.push_back(name + key);
  return variables;
}

}  // namespace

Launched::Launched(const std::vector<LaunchCommand>& commands, const std::string& key) {
  std::vector<std::string> environment = environment_with(key);
  const std::vector<char*> variables = pointers_to(environment);
  for (const LaunchCommand& command : commands) {
    std::vector<std::string> words = command.words;
    const std::vector<char*> arguments = pointers_to(words);
    auto [ours, theirs] = socket_pair(SOCK_STREAM);
    const int parent = getpid();
    const pid_t process = fork();
    if (process == 0) become(arguments.data(), variables.data(), theirs.get(), parent);
    if (process < 0)
      throw MissingError(std::string("a worker cannot be started: ") + std::strerror(errno));
    running_.push_back({process, command.words.front()});
    const std::string line = key + "\n";
    if (command.key_on_input) (void)send(ours.get(), line.data(), line.size(), MSG_NOSIGNAL);
  }
}

Launched::~Launched() {
  constexpr std::chrono::milliseconds kLook{20};
  constexpr int kLooks = 250;  // 5 s
  // evo-tune has already told the workers to end, so launchers usually end by themselves.
  for (int look = 0; look < kLooks && !running_.empty(); ++look) {
    constexpr int kWillingLooks = 50;
    if (look == kWillingLooks) {
      for (const Started& one : running_) kill(one.process, SIGTERM);
    }
    collect();
    if (!running_.empty()) std::this_thread::sleep_for(kLook);
  }
  for (const Started& one : running_) {
    kill(one.process, SIGKILL);
    waitpid(one.process, nullptr, 0);
  }
}

void Launched::collect() {
  std::erase_if(running_, [&](const Started& one) {
    int status = 0;
    if (waitpid(one.process, &status, WNOHANG) != one.process) return false;
    endings_ += endings_.empty() ? "" : "; ";
    endings_ += one.name + " ended with " +
                (WIFEXITED(status) ? "exit code " + std::to_string(WEXITSTATUS(status))
                                   : "signal " + std::to_string(WTERMSIG(status)));
    return true;
  });
}

std::string Launched::ending() {
  collect();
  return running_.empty() ? endings_ : std::string();
}

}  // namespace evo
