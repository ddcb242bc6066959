#include "db/owner.hpp"

#include <unistd.h>

#include <array>
#include <fstream>
#include <sstream>

namespace evo {
namespace {

/// The start time of a process in clock ticks since boot: field 22 of /proc/PID/stat (proc(5)).
/// Empty if no process has the number `process`, or if the process is a zombie.
std::string start_time(const std::string& process) {
  std::ifstream file("/proc/" + process + "/stat");
  std::string line;
  if (!std::getline(file, line)) return {};
  // The process name in field 2 may contain spaces and parentheses, so fields are counted from the
  // last parenthesis.
  const std::size_t name_end = line.rfind(')');
  if (name_end == std::string::npos) return {};
  std::istringstream fields(line.substr(name_end + 1));
  constexpr int kStateField = 3;
  constexpr int kStartField = 22;
  std::string field;
  for (int number = kStateField; number <= kStartField; ++number) {
    if (!(fields >> field)) return {};
    if (number == kStateField && (field == "Z" || field == "X")) return {};
  }
  return field;
}

std::string host() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return "unknown";
  return name.data();
}

}  // namespace

std::string this_process() {
  return host() + "/" + std::to_string(getpid()) + "/" + start_time("self");
}

OwnerState state_of(std::string_view owner) {
  const std::size_t last = owner.rfind('/');
  if (last == std::string_view::npos || last == 0) return OwnerState::kGone;
  const std::size_t middle = owner.rfind('/', last - 1);
  if (middle == std::string_view::npos) return OwnerState::kGone;
  if (owner.substr(0, middle) != host()) return OwnerState::kOnOtherHost;
  const std::string started = start_time(std::string(owner.substr(middle + 1, last - middle - 1)));
  const bool is_alive = !started.empty() && started == owner.substr(last + 1);
  return is_alive ? OwnerState::kAlive : OwnerState::kGone;
}

bool is_other_live_process(std::string_view owner) {
  return owner != this_process() && state_of(owner) == OwnerState::kAlive;
}

}  // namespace evo
