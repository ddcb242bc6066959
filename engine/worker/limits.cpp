#include "engine/worker/limits.hpp"

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>

namespace evo {
namespace {

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

// The address space is not limited in builds with sanitizers, which reserve more address space than
// any of these limits allows.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kCanLimitAddressSpace = false;
#else
constexpr bool kCanLimitAddressSpace = true;
#endif

void lower(int resource, std::uint64_t value) {
  rlimit limit{};
  if (getrlimit(static_cast<__rlimit_resource_t>(resource), &limit) != 0) return;
  limit.rlim_cur = std::min<rlim_t>(value, limit.rlim_max);
  limit.rlim_max = limit.rlim_cur;
  setrlimit(static_cast<__rlimit_resource_t>(resource), &limit);
}

std::uint64_t physical_memory_bytes() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page = sysconf(_SC_PAGE_SIZE);
  if (pages <= 0 || page <= 0) return 4 * kGiB;
  return static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page);
}

/// The largest address space that this process has had, in bytes.
std::uint64_t peak_address_space() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    std::uint64_t kilobytes = 0;
    if (word == "VmPeak:" && status >> kilobytes) return kilobytes << 10;
  }
  return 0;
}

}  // namespace

void apply_limits(const WorkerLimits& limits) {
  lower(RLIMIT_CORE, 0);
  if (kCanLimitAddressSpace && limits.address_space_bytes > 0) {
    lower(RLIMIT_AS, limits.address_space_bytes);
  }
  if (!limits.writes_files) {
    signal(SIGXFSZ, SIG_IGN);  // a write beyond the limit only fails
    lower(RLIMIT_FSIZE, 0);
  }
  constexpr int kNicer = 10;
  if (limits.gives_way) setpriority(PRIO_PROCESS, 0, kNicer);
}

std::uint64_t compiler_memory_bytes(std::size_t jobs) {
  const std::uint64_t share = physical_memory_bytes() / 2 / std::max<std::size_t>(jobs, 1);
  return std::clamp(share, kGiB, 4 * kGiB);
}

std::uint64_t interpreter_memory_bytes() { return physical_memory_bytes() / 4 * 3; }

std::uint64_t address_space_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return 0;
  return limit.rlim_cur;
}

bool was_near_memory_limit() {
  const std::uint64_t limit = address_space_limit();
  // A peak above 7/8 of the limit counts as close to the limit, because allocators request large
  // blocks, and the peak does not include a failed request.
  return limit > 0 && peak_address_space() > limit - limit / 8;
}

std::string memory_text(std::uint64_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f GB", static_cast<double>(bytes) / 1e9);
  return text;
}

}  // namespace evo
