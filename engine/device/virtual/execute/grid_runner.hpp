#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "engine/device/virtual/execute/cta.hpp"

namespace evo::ptx {

struct GridOptions {
  int threads = 2;                    ///< host threads
  std::size_t resident = 1;           ///< CTAs that may be started and not finished, all together
  std::vector<std::uint64_t> sample;  ///< linear CTA indices to run; empty: all
  bool in_turns = false;   ///< all CTAs that fit take short turns: what they claim is shared fairly
  bool note_ways = false;  ///< GridCounts::ways
  bool together = false;   ///< CTAs wait for each other: all start before any is done
};

/// Atomic operations on one address.
struct AtomicCount {
  std::uint64_t operations = 0;
  std::uint64_t ctas = 0;  ///< that made them
};

/// The way of a CTA through a program: equal for CTAs that execute each instruction equally often.
struct CtaWay {
  std::uint64_t cta = 0;
  std::uint64_t signature = 0;
  std::uint64_t work = 0;  ///< warp instructions
};

/// Sums over CTAs.
struct CtaCounts {
  std::vector<std::uint64_t> executions;      ///< as Cta::counts()
  std::vector<std::uint64_t> taken;           ///< as Cta::taken()
  std::vector<MemoryCounts> memory;           ///< of each instruction; empty unless it is counted
  std::vector<std::vector<SyncEvent>> syncs;  ///< of the CTA with the most of them
  std::unordered_map<std::uint64_t, AtomicCount> atomics;  ///< by address; if memory is counted
  std::uint64_t ctas = 0;
  std::uint64_t warp_instructions = 0;
  std::uint64_t all_work = 0;  ///< the same and what sleeps and prints take, of a level

  CtaCounts& operator+=(const CtaCounts& other);
};

/// Over the CTAs that ran.
struct GridCounts : CtaCounts {
  /// If the launch counts memory: the same sums by work_level() of the CTAs, and the work of each
  /// CTA by its place in the grid: its warp instructions, and as many as pass while it sleeps or
  /// prints.
  std::map<int, CtaCounts> levels;
  std::map<std::uint64_t, std::uint64_t> work;
  std::vector<CtaWay> ways;  ///< if asked for

  GridCounts& operator+=(const GridCounts& other);
};

/// CTAs whose work differs by less than a tenth are on one level, or on two that follow
/// each other.
[[nodiscard]] int work_level(std::uint64_t work);

/// CTAs of the launch that this host has memory for at a time; at least one.
[[nodiscard]] std::size_t ctas_on_host(const LaunchContext& launch);

/// Runs the CTAs of a launch on host threads. A CTA that does not finish within its slice (it may
/// wait for another one) is set aside and others run, as far as the resident limit allows. So is
/// now and then one that may just have taken a lock: if others can enter as well, they do. Hazards
/// are in the launch's log; a fatal one ends the run.
[[nodiscard]] GridCounts run_grid(LaunchContext& launch, const GridOptions& options);

}  // namespace evo::ptx
