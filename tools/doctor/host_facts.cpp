#include "tools/doctor/host_facts.hpp"

#include <sched.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <sstream>
#include <vector>

#include "engine/core/error.hpp"
#include "engine/core/temporary_folder.hpp"

namespace evo {
namespace {

namespace fs = std::filesystem;

std::string first_line(const fs::path& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  return line;
}

std::optional<double> number_in(const std::string& text) {
  std::istringstream stream(text);
  double value = 0;
  if (stream >> value) return value;
  return std::nullopt;
}

/// The folders of this process's control groups, from its own group to the root: the groups of
/// cgroup version 2, and the groups of version 1's `controller`.
std::vector<fs::path> control_groups(const fs::path& root, const std::string& controller) {
  std::vector<fs::path> folders;
  std::ifstream stream(root / "proc/self/cgroup");
  for (std::string line; std::getline(stream, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string names = line.substr(first + 1, second - first - 1);
    if (!names.empty() && ("," + names + ",").find("," + controller + ",") == std::string::npos) {
      continue;
    }
    const fs::path tree = root / "sys/fs/cgroup" / (names.empty() ? "" : controller);
    fs::path own = fs::path(line.substr(second + 1)).relative_path();
    while (!own.empty()) {
      folders.push_back(tree / own);
      own = own.parent_path();
    }
    folders.push_back(tree);
  }
  return folders;
}

/// The lowest limit that `limit_of` reads from any of the control groups.
template <typename Limit>
std::optional<double> least(const std::vector<fs::path>& groups, Limit limit_of) {
  std::optional<double> found;
  for (const fs::path& group : groups) {
    const std::optional<double> limit = limit_of(group);
    if (limit && *limit > 0 && (!found || *limit < *found)) found = limit;
  }
  return found;
}

/// The number of cores that a control group allows. cgroup version 2 has one file with quota and
/// period ("150000 100000"), version 1 two files; "max" and -1 mean no limit.
std::optional<double> cores_of_group(const fs::path& group) {
  std::istringstream both(first_line(group / "cpu.max"));
  double quota = 0;
  double period = 0;
  if (both >> quota >> period && period > 0) return quota / period;
  const auto old_quota = number_in(first_line(group / "cpu.cfs_quota_us"));
  const auto old_period = number_in(first_line(group / "cpu.cfs_period_us"));
  if (!old_quota || !old_period || *old_period <= 0) return std::nullopt;
  return *old_quota / *old_period;
}

std::optional<double> memory_of_group(const fs::path& group) {
  for (const char* name : {"memory.max", "memory.limit_in_bytes"}) {
    if (const auto limit = number_in(first_line(group / name))) return limit;
  }
  return std::nullopt;
}

std::uint64_t memory_figure(const fs::path& root, const std::string& wanted) {
  std::ifstream stream(root / "proc/meminfo");
  for (std::string line; std::getline(stream, line);) {
    if (!line.starts_with(wanted + ":")) continue;
    constexpr double kKibi = 1024;
    return static_cast<std::uint64_t>(number_in(line.substr(wanted.size() + 1)).value_or(0) *
                                      kKibi);
  }
  return 0;
}

std::size_t affinity() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 0;
  return static_cast<std::size_t>(CPU_COUNT(&set));
}

FolderFacts folder_facts(fs::path path) {
  FolderFacts facts{std::move(path)};
  struct statvfs status = {};
  if (statvfs(facts.path.c_str(), &status) == 0) {
    facts.free_bytes = std::uint64_t{status.f_bavail} * status.f_frsize;
  }
  facts.writable = access(facts.path.c_str(), W_OK | X_OK) == 0;
  return facts;
}

FolderFacts temporary_facts() {
  try {
    return folder_facts(temporary_place());
  } catch (const Error& error) {
    return {.path = {}, .failure = error.what()};
  }
}

/// Whether MPS runs: looks for its control process, whose name Linux truncates.
bool finds_mps(const fs::path& root) {
  std::error_code error;
  for (fs::directory_iterator entry(root / "proc", error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename();
    if (name.empty() || std::isdigit(static_cast<unsigned char>(name.front())) == 0) continue;
    if (first_line(entry->path() / "comm").starts_with("nvidia-cuda-mps")) return true;
  }
  return false;
}

/// The version "580.65.06" from "NVRM version: NVIDIA UNIX x86_64 Kernel Module 580.65.06 Sun Jul
/// …".
std::string kernel_module(const fs::path& root) {
  std::istringstream words(first_line(root / "proc/driver/nvidia/version"));
  for (std::string word; words >> word;) {
    const bool starts = std::isdigit(static_cast<unsigned char>(word.front())) != 0;
    if (starts && word.find('.') != std::string::npos) return word;
  }
  return {};
}

std::size_t count_pci_gpus(const fs::path& root) {
  std::size_t count = 0;
  std::error_code error;
  for (fs::directory_iterator entry(root / "sys/bus/pci/devices", error), end;
       !error && entry != end; entry.increment(error)) {
    const bool is_nvidia = first_line(entry->path() / "vendor") == "0x10de";
    const bool is_display = first_line(entry->path() / "class").starts_with("0x03");
    if (is_nvidia && is_display) ++count;
  }
  return count;
}

std::optional<bool> counters_for_root(const fs::path& root) {
  std::ifstream stream(root / "proc/driver/nvidia/params");
  constexpr std::string_view kName = "RmProfilingAdminOnly:";
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with(kName)) return number_in(line.substr(kName.size())).value_or(1) != 0;
  }
  return std::nullopt;
}

}  // namespace

HostFacts read_host_facts(const std::filesystem::path& root) {
  HostFacts facts;
  facts.cores = static_cast<std::size_t>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
  facts.usable_cores = affinity();
  facts.core_limit = least(control_groups(root, "cpu"), cores_of_group);
  facts.memory_bytes = memory_figure(root, "MemTotal");
  facts.available_bytes = memory_figure(root, "MemAvailable");
  const auto limit = least(control_groups(root, "memory"), memory_of_group);
  // In cgroup version 1, "no limit" is a number larger than any memory.
  if (limit && *limit < static_cast<double>(facts.memory_bytes)) {
    facts.memory_limit = static_cast<std::uint64_t>(*limit);
  }
  std::error_code error;
  fs::path here = fs::current_path(error);
  facts.folder = folder_facts(error ? fs::path(".") : std::move(here));
  if (error) facts.folder.failure = "the current folder is gone: " + error.message();
  facts.temporary = temporary_facts();
  facts.mps_runs = finds_mps(root);
  facts.counters_for_root = counters_for_root(root);
  facts.is_root = geteuid() == 0;
  facts.kernel_module = kernel_module(root);
  facts.pci_gpus = count_pci_gpus(root);
  return facts;
}

}  // namespace evo
