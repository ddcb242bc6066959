#include "tests/cli/run_program.hpp"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace evo {

ProgramResult run_program(const std::string& command, const std::string& folder,
                          const std::string& prefix) {
  std::string err_file = "/tmp/evo-stderr-XXXXXX";
  const int handle = mkstemp(err_file.data());
  if (handle < 0) throw std::runtime_error("cannot make " + err_file);
  close(handle);
  const std::string line =
      "cd '" + folder + "' && " + prefix + EVO_BINARY_DIR "/bin/" + command + " 2>" + err_file;
  FILE* pipe = popen(line.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("cannot start " + line);
  ProgramResult result;
  std::array<char, 4096> buffer{};
  for (std::size_t n = 0; (n = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
    result.out.append(buffer.data(), n);
  }
  const int status = pclose(pipe);
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  std::ifstream err(err_file);
  result.err.assign(std::istreambuf_iterator<char>(err), {});
  unlink(err_file.c_str());
  return result;
}

}  // namespace evo
