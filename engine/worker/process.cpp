#include "engine/worker/process.hpp"

#include <fcntl.h>
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
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string_view>
#include <utility>

#include "engine/core/environment.hpp"
#include "engine/core/error.hpp"

namespace evo {
namespace {

/// In the child, between fork and exec: only async-signal-safe calls.
[[noreturn]] void become(char* const* arguments, char* const* environment, int descriptor,
                         int parent, const WorkerLimits& limits) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  apply_limits(limits);
  setpgid(0, 0);  // Ctrl-C in the terminal is the coordinator's business
  dup2(descriptor, STDIN_FILENO);
  dup2(descriptor, STDOUT_FILENO);
  execve(arguments[0], arguments, environment);
  _exit(127);
}

/// Of this process. Libraries that a profiler loads into every process write files, and take down
/// the profiler where they cannot.
std::vector<char*> environment_for(const WorkerLimits& limits) {
  std::vector<char*> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const bool preloads = std::string_view(*variable).starts_with("LD_PRELOAD=");
    if (limits.writes_files || !preloads) variables.push_back(*variable);
  }
  variables.push_back(nullptr);
  return variables;
}

/// Signals that a program causes itself; all others come from somebody else.
bool is_own_fault(int signal) {
  constexpr std::array kOwn = {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSYS, SIGTRAP};
  return std::find(kOwn.begin(), kOwn.end(), signal) != kOwn.end();
}

/// Whether somebody stopped the process (SIGSTOP): it does nothing, for no reason of its own.
bool is_stopped(int process) {
  std::ifstream stat("/proc/" + std::to_string(process) + "/stat");
  const std::string text((std::istreambuf_iterator<char>(stat)), {});
  const std::size_t name_end = text.rfind(')');  // "PID (NAME) STATE …"
  return name_end != std::string::npos && text.substr(name_end).starts_with(") T");
}

/// Waits for a process that was killed. False when it is still there after ten seconds: then it is
/// in a call of the kernel that no signal ends, and waiting for it could take for ever.
bool may_be_gone(int process) {
  constexpr int kLimitMs = 10000;
  const int handle = static_cast<int>(syscall(SYS_pidfd_open, process, 0));
  if (handle < 0) return true;  // nobody can tell
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

WorkerProcess::WorkerProcess(const std::filesystem::path& program,
                             const std::vector<std::string>& arguments,
                             const WorkerLimits& limits) {
  std::array<int, 2> pair{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()) != 0) {
    throw MissingError(std::string("cannot start a worker: ") + std::strerror(errno));
  }
  std::vector<std::string> words = {program.string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  const std::vector<char*> environment = environment_for(limits);
  const int parent = getpid();
  process_ = fork();
  if (process_ == 0) become(pointers.data(), environment.data(), pair[1], parent, limits);
  close(pair[1]);
  descriptor_ = pair[0];
  if (process_ < 0) {
    close(descriptor_);
    throw MissingError(std::string("cannot start a worker: ") + std::strerror(errno));
  }
  open_ = true;
}

WorkerProcess::~WorkerProcess() {
  if (process_ >= 0) kill();
}

WorkerProcess::WorkerProcess(WorkerProcess&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      process_(std::exchange(other.process_, -1)),
      open_(std::exchange(other.open_, false)),
      reader_(std::move(other.reader_)),
      waiting_(std::move(other.waiting_)),
      sent_(std::exchange(other.sent_, 0)) {}

WorkerProcess& WorkerProcess::operator=(WorkerProcess&& other) noexcept {
  if (this != &other) {
    if (process_ >= 0) kill();
    descriptor_ = std::exchange(other.descriptor_, -1);
    process_ = std::exchange(other.process_, -1);
    open_ = std::exchange(other.open_, false);
    reader_ = std::move(other.reader_);
    waiting_ = std::move(other.waiting_);
    sent_ = std::exchange(other.sent_, 0);
  }
  return *this;
}

bool WorkerProcess::send(nlohmann::json message) {
  const std::vector<std::uint8_t> frame = encode_frame(std::move(message));
  waiting_.insert(waiting_.end(), frame.begin(), frame.end());
  write_waiting();
  return open_;
}

void WorkerProcess::write_waiting() {
  while (open_ && sent_ < waiting_.size()) {
    const ssize_t count = ::send(descriptor_, waiting_.data() + sent_, waiting_.size() - sent_,
                                 MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count > 0) {
      sent_ += static_cast<std::size_t>(count);
    } else if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      return;
    } else if (count == 0 || errno != EINTR) {
      // It may have answered before it went: what has arrived is still read.
      break;
    }
  }
  waiting_.clear();
  sent_ = 0;
}

std::chrono::nanoseconds WorkerProcess::processor_time() const {
  clockid_t clock{};
  timespec time{};
  const bool is_known = process_ > 0 && ::clock_getcpuclockid(process_, &clock) == 0 &&
                        ::clock_gettime(clock, &time) == 0;
  if (!is_known) return {};
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

pollfd WorkerProcess::interest() const {
  const bool writes = sent_ < waiting_.size();
  return {descriptor_, static_cast<short>(writes ? POLLIN | POLLOUT : POLLIN), 0};
}

void WorkerProcess::read_available() {
  std::array<std::uint8_t, 65536> chunk{};
  while (open_) {
    const ssize_t count = recv(descriptor_, chunk.data(), chunk.size(), MSG_DONTWAIT);
    if (count > 0) {
      reader_.feed({chunk.data(), static_cast<std::size_t>(count)});
    } else if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      return;
    } else if (count == 0 || errno != EINTR) {
      open_ = false;
    }
  }
}

std::optional<nlohmann::json> WorkerProcess::poll() {
  if (auto message = reader_.next()) return message;
  write_waiting();
  read_available();
  return reader_.next();
}

std::optional<nlohmann::json> WorkerProcess::wait(std::chrono::milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (true) {
    if (auto message = poll()) return message;
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    if (!open_ || left.count() <= 0) return std::nullopt;
    pollfd entry = interest();
    ::poll(&entry, 1, static_cast<int>(left.count()) + 1);
  }
}

void WorkerProcess::finish(std::chrono::milliseconds limit) {
  if (process_ < 0) return;
  shutdown(descriptor_, SHUT_WR);
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (open_ && std::chrono::steady_clock::now() < deadline) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    pollfd entry{descriptor_, POLLIN, 0};
    ::poll(&entry, 1, static_cast<int>(left.count()) + 1);
    read_available();
  }
  kill();
}

void WorkerProcess::close_channel() {
  close(descriptor_);
  descriptor_ = -1;
  process_ = -1;
  open_ = false;
  waiting_.clear();
  sent_ = 0;
}

Ending WorkerProcess::kill() {
  if (process_ < 0) return {false, "not running", -1};
  // One that closed its side is ending by itself: give it a moment, to learn how it ended.
  constexpr int kPolls = 100;
  int status = 0;
  pid_t ended = 0;
  for (int i = 0; !open_ && ended == 0 && i < kPolls; ++i) {
    ended = waitpid(process_, &status, WNOHANG);
    if (ended == 0) usleep(1000);
  }
  const bool by_us = ended == 0;
  const bool stopped = by_us && is_stopped(process_);
  if (by_us) {
    ::kill(process_, SIGKILL);
    if (!may_be_gone(process_)) {
      close_channel();
      return {false, "killed, but it does not end: it waits inside the driver", -1};
    }
    while (waitpid(process_, &status, 0) < 0 && errno == EINTR) {
    }
  }
  close_channel();
  Ending ending = ending_of(status);
  if (by_us) ending.killed_from_outside = stopped;
  if (stopped) ending.text = "stopped by somebody";
  return ending;
}

std::filesystem::path worker_program() {
  std::filesystem::path program;
  if (const auto chosen = environment_variable("EVO_WORKER")) {
    program = *chosen;
  } else {
    program = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "evo-worker";
  }
  if (access(program.c_str(), X_OK) != 0) {
    throw MissingError("the program evo-worker is missing at " + program.string() +
                       "; install it beside the others or name it in EVO_WORKER");
  }
  return program;
}

std::string seconds_text(std::chrono::milliseconds duration) {
  char text[32];
  std::snprintf(text, sizeof text, "%g s", static_cast<double>(duration.count()) / 1e3);
  return text;
}

}  // namespace evo
