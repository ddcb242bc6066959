#pragma once

#include <map>
#include <string>
#include <vector>

#include "db/store.hpp"

namespace evo {

/// A database with the runs of it that a bundle is made from.
struct BundleSource {
  const Store* store = nullptr;
  std::vector<StoredRun> runs;
};

/// Sizes of a shape by variable.
using ShapeVariables = std::map<std::string, double>;

/// One timed evaluation of a kernel.
struct KernelTime {
  StoredRun run;
  Timing timing;
  std::string measured_at;
  /// What kernels are chosen by: its p50, but of a kernel that is not its run's winner no less than
  /// the winner's, since comparisons decide who that is.
  double ranked_us = 0;
};

/// Who won the newest run on a shape; of several spaces the fastest of their winners.
struct ShapeWinner {
  RunId run = 0;
  CandidateId candidate = 0;
  std::string ptx_hash;
  std::string config;
  double p50_us = 0;
};

/// A kernel that passed all checks: one configuration's machine code, whatever runs it was in.
struct BundleKernel {
  std::string ptx_hash;
  std::string config;  ///< JSON with sorted keys
  bool is_default = false;
  std::size_t source = 0;
  CandidateId candidate = 0;                             ///< in an elite
  std::map<ShapeVariables, KernelTime> times;            ///< the newest on each shape
  std::map<std::string, ShapeVariables> checked_shapes;  ///< by name
};

/// Kernels whose times can be compared: they ran on one device model.
struct BundleTarget {
  DeviceInfo device;
  std::vector<BundleKernel> kernels;
  std::map<ShapeVariables, std::string> shapes;  ///< the timed ones with their names
  std::map<ShapeVariables, ShapeWinner> winners;
  /// Spaces whose configuration of defaults nobody checked fully.
  std::vector<std::string> missing_defaults;
};

/// All kernels that ever were in the elite of a run, and the spaces' defaults where they passed all
/// checks, for each device and kind of time. A time on a shape is known where a run that timed this
/// shape evaluated the kernel, too. What was withdrawn in any run is left out;
/// of the profile gate, on the shape of that run.
[[nodiscard]] std::vector<BundleTarget> bundle_targets(const std::vector<BundleSource>& sources);

/// One candidate alone, valid where it was checked; of a duplicate, its first one. Throws
/// DbError where it has no time.
[[nodiscard]] BundleTarget target_of(const Store& store, CandidateId candidate);

}  // namespace evo
