#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engine/predict/branch_history.hpp"
#include "engine/predict/sync_event.hpp"

namespace evo {

/// The operations of a CTA's warps at one line of the PTX (line 1 follows the line of
/// `.version`). The numbers of operations are means over the executed CTAs.
struct LineActivity {
  std::vector<double> executions;        ///< by each warp of a CTA
  std::vector<double> taken;             ///< for a branch: how often each warp took it as a whole
  std::vector<BranchHistory> histories;  ///< for a branch: the executions by each warp of one CTA
  std::uint32_t target = 0;              ///< for a branch: its target line; 0: no branch
  std::uint32_t next = 0;                ///< for a branch: the line of the other direction
  double shared_wavefronts = 0;          ///< passes of shared memory, with bank conflicts; per CTA
  double global_sectors = 0;             ///< sectors of 32 bytes requested from L1; per CTA
  double global_lines = 0;          ///< lines of 128 bytes with these sectors, summed over accesses
  double global_sectors_first = 0;  ///< the part of global_sectors that the CTA had not read before
  double global_bytes_written = 0;
  double sleep_ns = 0;  ///< time of nanosleep, over all warps of a CTA
  double prints = 0;    ///< calls of printf by threads; per CTA
  double flops = 0;     ///< operations of matrix instructions; per CTA
  int file = 0;         ///< source file, index into LaunchProfile::files
  int source_line = 0;  ///< source line; 0: unknown

  [[nodiscard]] double all_executions() const {
    double sum = 0;
    for (const double count : executions) sum += count;
    return sum;
  }
};

using LineActivities = std::map<std::uint32_t, LineActivity>;

/// CTAs of a grid that execute about the same operations.
struct CtaKind {
  LineActivities lines;  ///< mean over the executed CTAs of this kind
  /// For each warp of a CTA: its arrivals and waits at barriers, in order.
  std::vector<std::vector<SyncEvent>> syncs;
  double share = 1;  ///< fraction of the grid's CTAs that are of this kind
  double work = 0;   ///< mean number of PTX instructions that the warps of a CTA execute
};

/// The operations of a CTA at each PTX line, as a mean over all CTAs of the grid.
[[nodiscard]] LineActivities mean_lines(const std::vector<CtaKind>& kinds);

/// The CTAs that run on the SM that finishes last; used if the grid has several kinds of CTAs
/// (CtaKind), which execute different operations.
struct LastSm {
  /// the CTAs of this SM in order, each as the index of its CtaKind in LaunchProfile::kinds
  std::vector<std::uint16_t> kinds;
  double each = 1;         ///< number of CTAs that each entry represents
  std::uint16_t last = 0;  ///< the kind of the CTA that finishes last
  double last_start = 0;   ///< when the last CTA starts, as a share of the total time
};

/// The data of a launch that the virtual GPU executed; the launch's time is predicted from them.
struct LaunchProfile {
  std::string cubin;
  std::string entry;
  int warps_per_cta = 1;
  std::uint64_t ctas = 1;
  double footprint_bytes = 0;        ///< bytes of all buffers of the kernel
  double fresh_bytes = 0;            ///< bytes of the buffers that differ between timed launches
  double rotation_bytes = 0;         ///< bytes of all buffers of all timed launches
  double hot_atomics = 0;            ///< number of the grid's atomics on the most used address
  LineActivities lines;              ///< mean over all CTAs
  std::vector<CtaKind> kinds;        ///< at least one kind
  LastSm last_sm;                    ///< set if there are several kinds
  std::map<int, std::string> files;  ///< source files by number
};

}  // namespace evo
