#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engine/predict/sync_event.hpp"

namespace evo {

/// The operations of a CTA's warps at one line of the PTX (from 1: the line after `.version`). Mean
/// over the executed CTAs.
struct LineActivity {
  std::vector<double> executions;   ///< by each warp of a CTA
  std::vector<double> taken;        ///< for a branch: how often each whole warp took it
  std::uint32_t target = 0;         ///< for a branch: its target line; 0: no branch
  std::uint32_t next = 0;           ///< for a branch: the line at which a warp continues otherwise
  double shared_wavefronts = 0;     ///< passes of shared memory including bank conflicts; per CTA
  double global_sectors = 0;        ///< sectors of 32 bytes requested from L1; per CTA
  double global_lines = 0;          ///< lines of 128 bytes that contain them, summed over accesses
  double global_sectors_first = 0;  ///< the part of these that the CTA had not read before
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

/// CTAs with about the same operations.
struct CtaKind {
  LineActivities lines;  ///< mean over the executed ones
  /// For each warp of one CTA, in order.
  std::vector<std::vector<SyncEvent>> syncs;
  double share = 1;  ///< number of the grid's CTAs
  double work = 0;   ///< warp instructions of the PTX, mean
};

/// Over the grid.
[[nodiscard]] LineActivities mean_lines(const std::vector<CtaKind>& kinds);

/// The CTAs of the SM that finishes last, if CTAs differ.
struct LastSm {
  /// indices into LaunchProfile::kinds, in the order of its CTAs
  std::vector<std::uint16_t> kinds;
  double each = 1;         ///< number of CTAs represented by each of these
  std::uint16_t last = 0;  ///< the kind of the CTA that finishes last
  double last_start = 0;   ///< when that CTA starts, as a share of the total time
};

/// A launch as observed by the virtual GPU: the input of the time prediction.
struct LaunchProfile {
  std::string cubin;
  std::string entry;
  int warps_per_cta = 1;
  std::uint64_t ctas = 1;
  double footprint_bytes = 0;        ///< bytes of all the kernel's buffers
  double fresh_bytes = 0;            ///< bytes of the buffers that differ between timed launches
  double rotation_bytes = 0;         ///< bytes of all buffers of all timed launches
  double hot_atomics = 0;            ///< over the whole grid, at the address with the most
  LineActivities lines;              ///< mean over the grid
  std::vector<CtaKind> kinds;        ///< at least one
  LastSm last_sm;                    ///< if there are several kinds
  std::map<int, std::string> files;  ///< source files by number
};

}  // namespace evo
