#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "engine/device/virtual/execute/cta.hpp"

namespace evo::ptx {

struct GridOptions {
  int threads = 2;                    ///< host threads
  std::size_t resident = 1;           ///< limit of CTAs that have started and not ended
  std::vector<std::uint64_t> sample;  ///< linear indices of the CTAs to run; empty: all
  /// all resident CTAs run in short turns, so that they claim equal shares of work
  bool in_turns = false;
  bool note_ways = false;  ///< record GridCounts::ways
  /// cooperative launch: all CTAs start before any is continued, because they may wait for each
  /// other
  bool together = false;
};

/// The number of atomic operations on one address of global memory.
struct AtomicCount {
  std::uint64_t operations = 0;
  std::uint64_t ctas = 0;  ///< number of CTAs that executed them
};

/// Identifies the path of a CTA through the program: `signature` is a hash that is equal for CTAs
/// that execute each instruction equally often and whose warps execute equally many instructions.
struct CtaWay {
  std::uint64_t cta = 0;
  std::uint64_t signature = 0;
  std::uint64_t work = 0;  ///< warp instructions
};

/// The barrier events and branches of a CTA's warps, in order; without warps unless the launch
/// counts memory requests.
struct CtaRecord {
  std::uint64_t cta = 0;
  std::uint64_t work = 0;  ///< warp instructions
  std::vector<WarpRecord> warps;
};

/// Counts of operations, summed over CTAs.
struct CtaCounts {
  std::vector<std::uint64_t> executions;  ///< see Cta::counts()
  std::vector<std::uint64_t> taken;       ///< see Cta::taken()
  std::vector<MemoryCounts> memory;       ///< for each instruction; empty if not counted
  CtaRecord longest;                      ///< record of the CTA with the most warp instructions
  /// atomic operations by address; empty unless the launch counts memory requests
  std::unordered_map<std::uint64_t, AtomicCount> atomics;
  std::uint64_t ctas = 0;
  std::uint64_t warp_instructions = 0;
  std::uint64_t all_work = 0;  ///< the sum of GridCounts::work; only set in GridCounts::levels

  CtaCounts& operator+=(const CtaCounts& other);
};

/// Counts of operations, summed over the CTAs that ran.
struct GridCounts : CtaCounts {
  /// If the launch counts memory requests: `levels` holds the counts of the CTAs grouped by
  /// work_level(), and `work` holds the work of each CTA by its index in the grid. The work of a
  /// CTA is the number of its warp instructions, plus an equivalent for sleeps and prints.
  std::map<int, CtaCounts> levels;
  std::map<std::uint64_t, std::uint64_t> work;
  std::vector<CtaWay> ways;  ///< empty unless GridOptions::note_ways is true

  GridCounts& operator+=(const GridCounts& other);
};

/// Converts the work of a CTA (see GridCounts::work) to a level on a logarithmic scale. CTAs whose
/// work differs by less than a tenth are on the same level or on adjacent levels.
[[nodiscard]] int work_level(std::uint64_t work);

/// The number of CTAs of the launch that fit at once into the host memory that a launch may use
/// (4 GiB); at least one.
[[nodiscard]] std::size_t ctas_on_host(const LaunchContext& launch);

/// Runs the CTAs of a launch on host threads. A CTA that does not finish within its time slice may
/// be waiting for another CTA, so it is paused while other CTAs run, up to the limit of resident
/// CTAs. Sometimes, a CTA that may just have taken a lock is also paused, to test whether other
/// CTAs can enter the critical section wrongly. Hazards are added to the launch's log; a hazard
/// after which the kernel cannot continue ends the run.
[[nodiscard]] GridCounts run_grid(LaunchContext& launch, const GridOptions& options);

}  // namespace evo::ptx
