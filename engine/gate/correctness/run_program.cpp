#include "engine/gate/correctness/run_program.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <system_error>

namespace evo {
namespace {

constexpr int kNotStarted = 127;

/// Runs the program `words` in a child process after fork; if the program cannot be started, writes
/// errno to `failure`. Before exec, only async-signal-safe calls are allowed.
[[noreturn]] void become(char* const* words, const char* folder, const char* log, int failure,
                         int parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(kNotStarted);
  setpgid(0, 0);
  const int in = open("/dev/null", O_RDONLY);
  const int out = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (in >= 0 && out >= 0 && dup2(in, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0 &&
      dup2(out, STDERR_FILENO) >= 0 && chdir(folder) == 0) {
    execvp(words[0], words);
  }
  const int error = errno;
  (void)!write(failure, &error, sizeof error);
  _exit(kNotStarted);
}

/// Returns the end of a file, at most kMost bytes.
std::string end_of(const std::filesystem::path& file) {
  constexpr std::streamoff kMost = 4096;
  std::ifstream stream(file, std::ios::binary);
  stream.seekg(0, std::ios::end);
  const std::streamoff size = stream.tellg();
  stream.seekg(size > kMost ? size - kMost : 0);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// The size of a file; 0 if the file does not exist.
std::uintmax_t size_of(const std::filesystem::path& file) {
  std::error_code none;
  const std::uintmax_t size = std::filesystem::file_size(file, none);
  return none ? 0 : size;
}

}  // namespace

ProgramEnd run_program(const std::vector<std::string>& words, const std::filesystem::path& folder,
                       const std::filesystem::path& log, std::chrono::seconds limit,
                       const std::function<void()>& waiting) {
  std::vector<std::string> copies = words;
  std::vector<char*> pointers;
  for (std::string& word : copies) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  const std::string where = folder.string();
  const std::string log_name = log.string();
  std::array<int, 2> failure{};
  if (pipe2(failure.data(), O_CLOEXEC) != 0) {
    return {ProgramEnd::Kind::kNotStarted, errno, {}};
  }
  const int parent = getpid();
  const pid_t process = fork();
  if (process == 0) become(pointers.data(), where.c_str(), log_name.c_str(), failure[1], parent);
  const int fork_error = errno;
  close(failure[1]);
  int error = 0;
  const bool failed = read(failure[0], &error, sizeof error) == sizeof error;
  close(failure[0]);
  if (process < 0) return {ProgramEnd::Kind::kNotStarted, fork_error, {}};
  int status = 0;
  if (failed) {
    waitpid(process, &status, 0);
    return {ProgramEnd::Kind::kNotStarted, error, {}};
  }
  const auto start = std::chrono::steady_clock::now();
  auto next_sign = start + std::chrono::milliseconds(500);
  useconds_t nap = 500;
  while (waitpid(process, &status, WNOHANG) == 0) {
    const auto now = std::chrono::steady_clock::now();
    const bool is_too_long = now - start > limit;
    if (is_too_long || size_of(log) > kMostLogBytes) {
      kill(-process, SIGKILL);
      kill(process, SIGKILL);
      waitpid(process, &status, 0);
      const auto kind = is_too_long ? ProgramEnd::Kind::kTooLong : ProgramEnd::Kind::kTooMuch;
      return {kind, 0, end_of(log)};
    }
    if (now > next_sign) {
      waiting();
      next_sign = now + std::chrono::milliseconds(500);
    }
    usleep(nap);
    if (nap < 10'000) nap += nap / 4;
  }
  kill(-process, SIGKILL);  // kills processes that the program left running
  if (WIFSIGNALED(status)) {
    return {ProgramEnd::Kind::kKilled, WTERMSIG(status), end_of(log)};
  }
  return {ProgramEnd::Kind::kExited, WEXITSTATUS(status), end_of(log)};
}

}  // namespace evo
