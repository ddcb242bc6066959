#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "engine/device/virtual/execute/cta.hpp"

namespace evo::ptx {

struct GridOptions {
  int threads = 2;                    ///< host threads
  std::size_t resident = 1;           ///< CTAs that may be running at once
  std::vector<std::uint64_t> sample;  ///< linear indices of the CTAs to run; empty: all
  /// all resident CTAs take short turns, so that work they claim is shared evenly
  bool in_turns = false;
  bool note_ways = false;  ///< record GridCounts::ways
  bool together = false;   ///< CTAs wait for each other, so all start before any has finished
};

/// Atomic operations on one address.
struct AtomicCount {
  std::uint64_t operations = 0;
  std::uint64_t ctas = 0;  ///< number of CTAs that executed them
};

/// A CTA's path through a program: equal for CTAs that execute each instruction equally often.
struct CtaWay {
  std::uint64_t cta = 0;
  std::uint64_t signature = 0;
  std::uint64_t work = 0;  ///< warp instructions
};

/// Sums over CTAs.
struct CtaCounts {
  std::vector<std::uint64_t> executions;      ///< see Cta::counts()
  std::vector<std::uint64_t> taken;           ///< see Cta::taken()
  std::vector<MemoryCounts> memory;           ///< for each instruction; empty if not counted
  std::vector<std::vector<SyncEvent>> syncs;  ///< barrier events of the CTA with the most
  /// by address; empty if memory is not counted
  std::unordered_map<std::uint64_t, AtomicCount> atomics;
  std::uint64_t ctas = 0;
  std::uint64_t warp_instructions = 0;
  std::uint64_t all_work = 0;  ///< the same, plus the time of sleeps and prints, for one level

  CtaCounts& operator+=(const CtaCounts& other);
};

/// Over the CTAs that ran.
struct GridCounts : CtaCounts {
  /// If the launch counts memory: the same sums grouped by work_level() of the CTAs, and each CTA's
  /// work by its index in the grid. Work is the number of warp instructions, including the
  /// equivalent of sleeps and prints.
  std::map<int, CtaCounts> levels;
  std::map<std::uint64_t, std::uint64_t> work;
  std::vector<CtaWay> ways;  ///< empty if not requested

  GridCounts& operator+=(const GridCounts& other);
};

/// The level of a CTA's work. CTAs whose work differs by less than a tenth are on the same level or
/// on adjacent levels.
[[nodiscard]] int work_level(std::uint64_t work);

/// The number of CTAs of the launch for which this host has memory at once; at least one.
[[nodiscard]] std::size_t ctas_on_host(const LaunchContext& launch);

/// Runs the CTAs of a launch on host threads. A CTA that does not finish within its slice, because
/// it may wait for another one, is paused while others run, up to the resident limit. Now and then
/// a CTA that may just have taken a lock is paused as well, which reveals whether others can
/// wrongly enter. Hazards are in the launch's log; a fatal one ends the run.
[[nodiscard]] GridCounts run_grid(LaunchContext& launch, const GridOptions& options);

}  // namespace evo::ptx
