#include "tests/cli/run_program.hpp"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace evo {
namespace {

int exit_code_of(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::string shell_line(const std::string& command, const std::string& folder,
                       const std::string& prefix) {
  return "cd '" + folder + "' && " + prefix + " " + (program_folder() / command).string();
}

}  // namespace

std::filesystem::path program_folder() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path();
}

std::filesystem::path source_folder() {
  const char* chosen = std::getenv("EVO_SOURCE_DIR");
  return chosen != nullptr ? chosen : EVO_SOURCE_DIR;
}

ProgramResult run_program(const std::string& command, const std::string& folder,
                          const std::string& prefix) {
  std::string err_file = "/tmp/evo-stderr-XXXXXX";
  const int handle = mkstemp(err_file.data());
  if (handle < 0) throw std::runtime_error("cannot make " + err_file);
  close(handle);
  const std::string line = shell_line(command, folder, prefix) + " 2>" + err_file;
  FILE* pipe = popen(line.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("cannot start " + line);
  ProgramResult result;
  std::array<char, 4096> buffer{};
  for (std::size_t n = 0; (n = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
    result.out.append(buffer.data(), n);
  }
  result.exit_code = exit_code_of(pclose(pipe));
  std::ifstream err(err_file);
  result.err.assign(std::istreambuf_iterator<char>(err), {});
  unlink(err_file.c_str());
  return result;
}

RunningProgram::RunningProgram(const std::string& command, const std::string& folder,
                               const std::string& prefix) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  const std::string line = "cd '" + folder + "' && exec env " + prefix + " " +
                           (program_folder() / command).string() + " 2>/dev/null";
  process_ = fork();
  if (process_ < 0) throw std::runtime_error("cannot start " + line);
  if (process_ == 0) {
    dup2(ends[1], STDOUT_FILENO);
    execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
    _exit(127);
  }
  close(ends[1]);
  output_ = ends[0];
}

RunningProgram::~RunningProgram() {
  if (process_ > 0) {
    ::kill(process_, SIGKILL);
    (void)wait();
  }
  close(output_);
}

std::string RunningProgram::read_line() {
  std::array<char, 4096> chunk{};
  while (pending_.find('\n') == std::string::npos) {
    const ssize_t count = read(output_, chunk.data(), chunk.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return {};
    pending_.append(chunk.data(), static_cast<std::size_t>(count));
  }
  const std::size_t end = pending_.find('\n');
  std::string line = pending_.substr(0, end);
  pending_.erase(0, end + 1);
  return line;
}

void RunningProgram::send(int signal) const { ::kill(process_, signal); }

bool RunningProgram::is_running() const {
  siginfo_t info = {};
  const bool asked =
      waitid(P_PID, static_cast<id_t>(process_), &info, WEXITED | WNOHANG | WNOWAIT) == 0;
  return asked && info.si_pid == 0;
}

int RunningProgram::wait() {
  while (!read_line().empty()) {
  }
  int status = 0;
  while (waitpid(process_, &status, 0) < 0 && errno == EINTR) {
  }
  process_ = -1;
  return exit_code_of(status);
}

int stop_after_evaluations(RunningProgram& program, int evaluations, int signal) {
  for (int seen = 0; seen < evaluations;) {
    const std::string line = program.read_line();
    if (line.empty()) break;
    seen += line.find(R"("event":"evaluated")") != std::string::npos ? 1 : 0;
  }
  program.send(signal);
  return program.wait();
}

}  // namespace evo
