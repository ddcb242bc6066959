#include "engine/worker/child_process.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>
#include <string_view>
#include <utility>

#include "engine/core/error.hpp"

namespace evo {
namespace {

/// Executes the program `arguments[0]` in a child process after fork(). Uses only async-signal-safe
/// calls.
[[noreturn]] void become(char* const* arguments, char* const* environment, int descriptor,
                         int parent, const WorkerLimits& limits) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  apply_limits(limits);
  setpgid(0, 0);  // so Ctrl-C in the terminal does not reach the child
  dup2(descriptor, STDIN_FILENO);
  dup2(descriptor, STDOUT_FILENO);
  execve(arguments[0], arguments, environment);
  _exit(127);
}

/// The environment for a child process. Leaves out LD_PRELOAD if the child must not write files,
/// because the preloaded library of a profiler fails if it cannot write.
std::vector<char*> environment_for(const WorkerLimits& limits) {
  std::vector<char*> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const bool preloads = std::string_view(*variable).starts_with("LD_PRELOAD=");
    if (limits.writes_files || !preloads) variables.push_back(*variable);
  }
  variables.push_back(nullptr);
  return variables;
}

/// True for signals that a program causes itself by an error; other processes send all other
/// signals.
bool is_own_fault(int signal) {
  constexpr std::array kOwn = {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSYS, SIGTRAP};
  return std::find(kOwn.begin(), kOwn.end(), signal) != kOwn.end();
}

/// True if a signal such as SIGSTOP has stopped the process. A stopped process does not answer, but
/// this is not its own fault.
bool is_stopped(int process) {
  std::ifstream stat("/proc/" + std::to_string(process) + "/stat");
  const std::string text((std::istreambuf_iterator<char>(stat)), {});
  const std::size_t name_end = text.rfind(')');  // "PID (NAME) STATE …"
  return name_end != std::string::npos && text.substr(name_end).starts_with(") T");
}

/// Waits for a killed process. Returns false if the process still exists after ten seconds, because
/// it is in a system call that no signal interrupts and that may never return.
bool may_be_gone(int process) {
  constexpr int kLimitMs = 10000;
  const int handle = static_cast<int>(syscall(SYS_pidfd_open, process, 0));
  if (handle < 0) return true;  // it is unknown whether the process still exists
  pollfd entry{handle, POLLIN, 0};
  int count = 0;
  while ((count = poll(&entry, 1, kLimitMs)) < 0 && errno == EINTR) {
  }
  close(handle);
  return count != 0;
}

Ending ending_of(int status) {
  if (WIFSIGNALED(status)) {
    const int number = WTERMSIG(status);
    return {!is_own_fault(number),
            "signal " + std::to_string(number) + " (" + strsignal(number) + ")", -1};
  }
  return {false, "exit code " + std::to_string(WEXITSTATUS(status)), WEXITSTATUS(status)};
}

}  // namespace

std::pair<FileDescriptor, FileDescriptor> socket_pair(int type) {
  std::array<int, 2> pair{};
  if (socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, pair.data()) != 0) {
    throw MissingError(std::string("cannot start a worker: ") + std::strerror(errno));
  }
  return {FileDescriptor(pair[0]), FileDescriptor(pair[1])};
}

ChildProcess::ChildProcess(const std::filesystem::path& program,
                           const std::vector<std::string>& arguments, const WorkerLimits& limits,
                           FileDescriptor socket) {
  std::vector<std::string> words = {program.string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  const std::vector<char*> environment = environment_for(limits);
  const int parent = getpid();
  process_ = fork();
  if (process_ == 0) become(pointers.data(), environment.data(), socket.get(), parent, limits);
  if (process_ < 0) {
    throw MissingError(std::string("cannot start a worker: ") + std::strerror(errno));
  }
}

ChildProcess::~ChildProcess() {
  if (process_ >= 0) kill(false);
}

std::chrono::nanoseconds ChildProcess::processor_time() const {
  clockid_t clock{};
  timespec time{};
  const bool is_known = process_ > 0 && ::clock_getcpuclockid(process_, &clock) == 0 &&
                        ::clock_gettime(clock, &time) == 0;
  if (!is_known) return {};
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

Ending ChildProcess::kill(bool is_ending) {
  if (process_ < 0) return {false, "not running", -1};
  // Waits a short time for a process that is about to end by itself, to report its own exit code or
  // signal.
  constexpr int kPolls = 100;
  int status = 0;
  pid_t ended = 0;
  for (int i = 0; is_ending && ended == 0 && i < kPolls; ++i) {
    ended = waitpid(process_, &status, WNOHANG);
    if (ended == 0) usleep(1000);
  }
  const bool by_us = ended == 0;
  const bool stopped = by_us && is_stopped(process_);
  if (by_us) {
    ::kill(process_, SIGKILL);
    if (!may_be_gone(process_)) {
      process_ = -1;
      return {false, "killed, but the process does not end: it waits inside the driver", -1};
    }
    while (waitpid(process_, &status, 0) < 0 && errno == EINTR) {
    }
  }
  process_ = -1;
  Ending ending = ending_of(status);
  if (by_us) ending.killed_from_outside = stopped;
  if (stopped) ending.text = "stopped by a signal from outside";
  return ending;
}

}  // namespace evo
