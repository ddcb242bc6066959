#include "tests/cli/child_processes.hpp"

#include <fstream>
#include <iterator>
#include <sstream>

namespace evo {

std::vector<ChildProcess> children_of(int process) {
  const std::string id = std::to_string(process);
  std::ifstream list("/proc/" + id + "/task/" + id + "/children");
  std::vector<ChildProcess> children;
  for (int child = 0; list >> child;) {
    std::ifstream stream("/proc/" + std::to_string(child) + "/cmdline", std::ios::binary);
    const std::string line((std::istreambuf_iterator<char>(stream)), {});
    const std::size_t program_end = line.find('\0');
    if (program_end == std::string::npos) continue;  // a zombie, or a process before its exec
    children.push_back({child, line.c_str() + program_end + 1});
  }
  return children;
}

long memory_kib(int process, const std::string& figure) {
  std::ifstream status("/proc/" + std::to_string(process) + "/status");
  for (std::string line; std::getline(status, line);) {
    std::istringstream words(line);
    std::string name;
    long value = 0;
    if (words >> name >> value && name == figure + ":") return value;
  }
  return 0;
}

}  // namespace evo
