#pragma once

#include <cstdint>

#include "engine/device/virtual/decode/program.hpp"
#include "engine/device/virtual/execute/grid_runner.hpp"
#include "engine/device/virtual/timing/device_model.hpp"

namespace evo::ptx {

/// What one CTA keeps each unit of an SM busy with, in clocks, and how long one warp's chain of
/// dependent instructions takes. Averages over CTAs.
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

  /// The busiest unit.
  [[nodiscard]] double busiest() const;
  /// Adds a share of another one.
  void add(const CtaCost& other, double share);
};

[[nodiscard]] CtaCost cta_cost(const DeviceModel& model, const Program& program,
                               const CtaCounts& counts, int warps_per_cta);

struct PredictionInput {
  CtaCost cost = {};          ///< mean over the grid
  double slowest_clocks = 0;  ///< of the longest CTA, alone on an SM
  std::uint64_t ctas = 1;
  int ctas_per_sm = 1;        ///< occupancy
  double fresh_bytes = 0;     ///< of all buffers that are not the same in each launch that is timed
  double rotation_bytes = 0;  ///< of all that launches take when they are timed
};

/// Microseconds of one launch: whole waves of resident CTAs and a last, smaller one, each taking
/// the larger of its busiest unit and of one warp's latency, and the launch itself. Buffers that
/// fit the L2 cache count as warm.
[[nodiscard]] double predict_time_us(const DeviceModel& model, const PredictionInput& input);

}  // namespace evo::ptx
