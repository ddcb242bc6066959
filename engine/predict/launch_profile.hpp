#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engine/predict/sync_event.hpp"

namespace evo {

/// What the warps of a CTA did with one line of the PTX (from 1: the one behind `.version`), mean
/// over the CTAs that were run.
struct LineActivity {
  std::vector<double> executions;   ///< by each warp of a CTA
  std::vector<double> taken;        ///< of a branch: how often each warp took it as a whole
  std::uint32_t target = 0;         ///< of a branch: the line it leads to; 0: it is none
  std::uint32_t next = 0;           ///< of a branch: the line at which a warp goes on otherwise
  double shared_wavefronts = 0;     ///< passes of shared memory, bank conflicts counted; of a CTA
  double global_sectors = 0;        ///< of 32 bytes, asked of L1; of a CTA
  double global_lines = 0;          ///< of 128 bytes that hold them, of each access
  double global_sectors_first = 0;  ///< of these, what the CTA had not read before
  double global_bytes_written = 0;
  double sleep_ns = 0;  ///< of nanosleep, by all warps of a CTA
  double prints = 0;    ///< calls of printf by threads; of a CTA
  double flops = 0;     ///< of matrix instructions; of a CTA
  int file = 0;         ///< of the source, as in LaunchProfile::files
  int source_line = 0;  ///< of it; 0: not known

  [[nodiscard]] double all_executions() const {
    double sum = 0;
    for (const double count : executions) sum += count;
    return sum;
  }
};

using LineActivities = std::map<std::uint32_t, LineActivity>;

/// CTAs that execute about the same.
struct CtaKind {
  LineActivities lines;  ///< mean over those that were run
  /// Of each warp of one CTA, in its order.
  std::vector<std::vector<SyncEvent>> syncs;
  double share = 1;  ///< of the grid's CTAs
  double work = 0;   ///< warp instructions of the PTX, mean
};

/// Over the grid.
[[nodiscard]] LineActivities mean_lines(const std::vector<CtaKind>& kinds);

/// Which CTAs the SM gets that ends last, where CTAs differ.
struct LastSm {
  std::vector<std::uint16_t> kinds;  ///< in LaunchProfile::kinds; of its CTAs in their order
  double each = 1;                   ///< CTAs that each of these stands for
  std::uint16_t last = 0;            ///< the kind of the CTA that ends last
  double last_start = 0;             ///< when that one starts, as a share of the whole
};

/// A launch as the virtual GPU saw it: what a predicted time is made of.
struct LaunchProfile {
  std::string cubin;
  std::string entry;
  int warps_per_cta = 1;
  std::uint64_t ctas = 1;
  double footprint_bytes = 0;  ///< of all buffers the kernel was given
  double fresh_bytes = 0;      ///< of those that are not the same in each launch that is timed
  double rotation_bytes = 0;   ///< of all that launches take when they are timed
  double hot_atomics = 0;      ///< of the whole grid, on the address with the most
  LineActivities lines;        ///< mean over the grid
  std::vector<CtaKind> kinds;  ///< at least one
  LastSm last_sm;              ///< of several kinds
  std::map<int, std::string> files;  ///< of the source, by their numbers
};

}  // namespace evo
