#include "engine/device/virtual/memory/access_counts.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "engine/device/virtual/execute/lanes.hpp"

namespace evo::ptx {
namespace {

/// True if lanes l and l XOR `bit` access the same address of shared memory, for every lane l.
/// Lanes that do not access shared memory are ignored.
bool same_at_distance(const LaneAccess& access, std::size_t bit) {
  for (std::size_t lane = 0; lane < kWarpSize; ++lane) {
    const std::size_t other = lane ^ bit;
    if (((access.shared >> lane) & 1U) != 0 && ((access.shared >> other) & 1U) != 0 &&
        access.address[lane] != access.address[other])
      return false;
  }
  return true;
}

}  // namespace

void count_access(Warp& warp, const LaneAccess& access, std::uint32_t bytes, bool is_write) {
  MemoryCounts& counts = warp.cta->memory_counts()[warp.pc];
  if (access.shared != 0) {
    // A wavefront serves 32 banks of 4 bytes. Accesses of 8 or 16 bytes per lane are served in
    // groups of lanes: 128 bytes per wavefront, or 256 bytes if each lane l reads the same address
    // as lane l XOR 1, or each as lane l XOR 2.
    int lanes_a_pass = bytes >= 16 ? 8 : bytes >= 8 ? 16 : 32;
    if (!is_write && lanes_a_pass < 32 &&
        (same_at_distance(access, 1) || same_at_distance(access, 2)))
      lanes_a_pass *= 2;
    for (int first = 0; first < kWarpSize; first += lanes_a_pass) {
      std::array<std::array<std::uint64_t, 32>, 32> words;
      std::array<int, 32> used{};
      for (int lane = first; lane < first + lanes_a_pass; ++lane) {
        if (((access.shared >> lane) & 1U) == 0) continue;
        const std::uint64_t start = access.address[static_cast<std::size_t>(lane)] / 4;
        for (std::uint64_t word = start; word < start + std::max(bytes / 4, 1U); ++word) {
          auto& bank = words[word % 32];
          int& count = used[word % 32];
          if (std::find(bank.begin(), bank.begin() + count, word) == bank.begin() + count) {
            bank[static_cast<std::size_t>(count++)] = word;
          }
        }
      }
      counts.shared_wavefronts += static_cast<std::uint64_t>(*std::ranges::max_element(used));
    }
  }
  if (access.global != 0) {
    constexpr std::uint64_t kSectorsOfLine = 4;
    std::array<std::uint64_t, kWarpSize> sectors;
    std::size_t count = 0;
    for_lanes(access.global, [&](int lane) {
      sectors[count++] = access.address[static_cast<std::size_t>(lane)] / 32;
    });
    std::sort(sectors.begin(), sectors.begin() + static_cast<std::ptrdiff_t>(count));
    const auto last =
        std::unique(sectors.begin(), sectors.begin() + static_cast<std::ptrdiff_t>(count));
    counts.global_sectors += static_cast<std::uint64_t>(last - sectors.begin());
    for (auto sector = sectors.begin(); sector != last; ++sector) {
      const bool is_first = sector == sectors.begin();
      if (is_first || *sector / kSectorsOfLine != *(sector - 1) / kSectorsOfLine)
        ++counts.global_lines;
    }
    if (!is_write) {
      auto& read = warp.cta->sectors_read();
      for (auto sector = sectors.begin(); sector != last; ++sector)
        counts.global_sectors_first += read.insert(*sector).second ? 1 : 0;
    }
    if (is_write) {
      counts.global_bytes_written +=
          static_cast<std::uint64_t>(std::popcount(access.global)) * bytes;
    }
  }
}

void count_atomic(Warp& warp, const LaneAccess& access, bool is_merged) {
  constexpr std::size_t kMostAddresses = 1 << 16;
  if (access.global == 0) return;
  auto& atomics = warp.cta->atomics();
  const auto add = [&](std::uint64_t address) {
    const auto found = atomics.find(address);
    if (found != atomics.end()) {
      ++found->second;
    } else if (atomics.size() < kMostAddresses) {
      atomics.emplace(address, 1);
    }
  };
  const std::uint64_t first =
      access.address[static_cast<std::size_t>(std::countr_zero(access.global))];
  bool is_one = true;
  for_lanes<std::size_t>(access.global,
                         [&](std::size_t lane) { is_one &= access.address[lane] == first; });
  if (is_one && is_merged) {
    add(first);
    return;
  }
  for_lanes<std::size_t>(access.global, [&](std::size_t lane) { add(access.address[lane]); });
}

void count_copy(Warp& warp, const LaneAccess& source, const LaneAccess& destination) {
  // For each pair of a 32-byte sector in global memory and a 32-byte sector in shared memory that
  // receives data from it: whether the first half, the second half, or both are copied.
  std::map<std::pair<std::uint64_t, std::uint64_t>, int> halves;
  for_lanes(source.global & destination.shared, [&](int lane) {
    const auto l = static_cast<std::size_t>(lane);
    const std::uint64_t from = source.address[l];
    halves[{from / 32, destination.address[l] / 32}] |= 1 << (from / 16 % 2);
  });
  // One wavefront moves the same halves of several sectors from one line of 128 bytes in global
  // memory to one row of shared memory.
  std::set<std::tuple<std::uint64_t, std::uint64_t, int>> wavefronts;
  for (const auto& [sectors, half] : halves)
    wavefronts.emplace(sectors.first / 4, sectors.second / 4, half);
  MemoryCounts& counts = warp.cta->memory_counts()[warp.pc];
  counts.shared_wavefronts += wavefronts.size();
}

}  // namespace evo::ptx
