#include "engine/evolve/program_pipe.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <thread>
#include <utility>

#include "engine/core/error.hpp"

namespace evo {
namespace {

constexpr std::size_t kLongestLine = std::size_t{64} << 20;
/// How long to wait for the exit of a program that has closed its output or whose input was closed.
constexpr std::chrono::milliseconds kGrace(1000);

std::string ending_text(int status) {
  if (WIFSIGNALED(status))
    return "the program was killed by signal " + std::to_string(WTERMSIG(status));
  return "the program ended with exit code " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

ProgramPipe::ProgramPipe(std::string command) : command_(std::move(command)) {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    fail(std::string("no pipe can be made: ") + std::strerror(errno));
  }
  socket_ = ends[0];
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, ends[1], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&files, ends[1], STDOUT_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  std::string shell = "sh";
  std::string option = "-c";
  std::array<char*, 4> words = {shell.data(), option.data(), command_.data(), nullptr};
  const int error = posix_spawn(&child_, "/bin/sh", &files, &attributes, words.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  close(ends[1]);
  if (error == 0) return;
  close(socket_);
  fail(std::string("cannot be started: ") + std::strerror(error));
}

ProgramPipe::~ProgramPipe() {
  close(socket_);
  if (child_ <= 0) return;
  const auto end = std::chrono::steady_clock::now() + kGrace;
  while (waitpid(child_, nullptr, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > end) {
      kill(-child_, SIGKILL);
      waitpid(child_, nullptr, 0);
      return;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  kill(-child_, SIGKILL);  // kills processes that the shell left behind
}

void ProgramPipe::fail(const std::string& problem) const {
  throw InputError("--strategy 'program: " + command_ + "': " + problem);
}

void ProgramPipe::fail_ended() {
  // The program has closed its output, so it usually ends soon. If the program does not end, the
  // error says that the program closed its output.
  int status = 0;
  const auto end = std::chrono::steady_clock::now() + kGrace;
  while (waitpid(child_, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > end) fail("the program closed its standard output");
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  child_ = -1;
  fail(ending_text(status));
}

void ProgramPipe::wait_for(short events, std::chrono::milliseconds limit, const char* what) const {
  pollfd look{socket_, events, 0};
  const auto end = std::chrono::steady_clock::now() + limit;
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - std::chrono::steady_clock::now());
    if (left.count() <= 0) break;
    if (poll(&look, 1, static_cast<int>(left.count())) > 0) return;
  }
  fail(std::string(what) + " within " + std::to_string(limit.count() / 1000) + " s");
}

void ProgramPipe::send(const std::string& line, std::chrono::milliseconds limit) {
  const std::string text = line + "\n";
  for (std::size_t sent = 0; sent < text.size();) {
    wait_for(POLLOUT, limit, "the program does not read its standard input");
    const ssize_t count =
        ::send(socket_, text.data() + sent, text.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count > 0) {
      sent += static_cast<std::size_t>(count);
    } else if (errno != EINTR && errno != EAGAIN) {
      return;  // receive() then reads the program's last output, or notices its end
    }
  }
}

std::string ProgramPipe::receive(std::chrono::milliseconds limit) {
  while (true) {
    if (const std::size_t end = pending_.find('\n'); end != std::string::npos) {
      std::string line = pending_.substr(0, end);
      pending_.erase(0, end + 1);
      return line;
    }
    if (pending_.size() > kLongestLine) fail("the program wrote a line of more than 64 MiB");
    wait_for(POLLIN, limit, "the program does not answer");
    std::array<char, 65536> chunk{};
    const ssize_t count = read(socket_, chunk.data(), chunk.size());
    if (count > 0) {
      pending_.append(chunk.data(), static_cast<std::size_t>(count));
    } else if (count == 0 || (errno != EINTR && errno != EAGAIN)) {
      fail_ended();
    }
  }
}

}  // namespace evo
