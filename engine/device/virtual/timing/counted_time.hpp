#pragma once

#include <cstdint>

#include "engine/device/virtual/decode/program.hpp"
#include "engine/device/virtual/execute/grid_runner.hpp"
#include "engine/device/virtual/timing/device_model.hpp"

namespace evo::ptx {

/// The clocks for which one CTA occupies each unit of an SM, and the latency of one warp's chain of
/// dependent instructions, as means over the CTAs.
struct CtaCost {
  double issue = 0;
  double tensor = 0;
  double mufu = 0;
  double fma = 0;
  double alu = 0;
  double convert = 0;
  double fp64 = 0;
  double shared = 0;
  double l2 = 0;
  double warp_latency = 0;  ///< clocks

  /// The clocks for which the CTA occupies the busiest unit.
  [[nodiscard]] double busiest() const;
  /// Adds the clocks and the latency of `other`, multiplied by `share`.
  void add(const CtaCost& other, double share);
};

[[nodiscard]] CtaCost cta_cost(const DeviceModel& model, const Program& program,
                               const CtaCounts& counts, int warps_per_cta);

struct PredictionInput {
  CtaCost cost = {};          ///< mean over the grid
  double slowest_clocks = 0;  ///< clocks of the longest CTA, alone on an SM
  std::uint64_t ctas = 1;
  int ctas_per_sm = 1;        ///< occupancy
  double fresh_bytes = 0;     ///< bytes of all buffers that differ between timed launches
  double rotation_bytes = 0;  ///< bytes of all buffers of all timed launches
};

/// Predicted microseconds of one launch: the time of full waves of resident CTAs and of a smaller
/// last wave, plus the launch overhead. A wave takes the time of its busiest unit or the latency of
/// one warp, whichever is longer. The launch takes at least the time of its longest CTA and, unless
/// the buffers of all timed launches fit in the L2 cache, the time of its transfers from DRAM.
[[nodiscard]] double predict_time_us(const DeviceModel& model, const PredictionInput& input);

}  // namespace evo::ptx
