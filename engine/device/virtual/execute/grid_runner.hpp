#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "engine/device/virtual/execute/cta.hpp"

namespace evo::ptx {

struct GridOptions {
  int threads = 2;                    ///< host threads
  std::size_t resident = 1;           ///< CTAs that may be started and not finished, all together
  std::vector<std::uint64_t> sample;  ///< linear CTA indices to run; empty: all
  bool together = false;              ///< CTAs wait for each other: all start before any is done
};

/// Sums over the CTAs that ran.
struct GridCounts {
  std::vector<std::uint64_t> executions;  ///< of each instruction, by warps
  MemoryCounts memory;
  std::uint64_t ctas = 0;
  std::uint64_t warp_instructions = 0;
};

/// CTAs of the launch that this host has memory for at a time; at least one.
[[nodiscard]] std::size_t ctas_on_host(const LaunchContext& launch);

/// Runs the CTAs of a launch on host threads. A CTA that does not finish within its slice (it may
/// wait for another one) is set aside and others run, as far as the resident limit allows. Hazards
/// are in the launch's log; a fatal one ends the run.
[[nodiscard]] GridCounts run_grid(LaunchContext& launch, const GridOptions& options);

}  // namespace evo::ptx
