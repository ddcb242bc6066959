#pragma once

#include <map>
#include <string>
#include <vector>

#include "db/store.hpp"

namespace evo {

/// A database, and the runs in it from which a bundle is made.
struct BundleSource {
  const Store* store = nullptr;
  std::vector<StoredRun> runs;
};

/// The values of a shape's variables, by name.
using ShapeVariables = std::map<std::string, double>;

/// One timed evaluation of a kernel.
struct KernelTime {
  StoredRun run;
  Timing timing;
  std::string measured_at;
  /// The time by which kernels are chosen: the p50, but for kernels other than the run's winner at
  /// least the winner's p50, because A/B comparisons decided that the winner is the fastest.
  double ranked_us = 0;
};

/// The winner of the newest run on a shape; if several spaces have runs on the shape, the fastest
/// of their winners.
struct ShapeWinner {
  RunId run = 0;
  CandidateId candidate = 0;
  std::string code;  ///< see BundleKernel
  std::string config;
  double p50_us = 0;
};

/// The kernel of one configuration, from any of the runs.
struct BundleKernel {
  /// Hash of the PTX, and the macros that the problem sets for the shape, because the launch and
  /// the valid shapes depend on them.
  std::string code;
  std::string config;  ///< JSON with sorted keys
  bool is_default = false;
  std::size_t source = 0;
  CandidateId candidate = 0;                             ///< a candidate with this kernel
  std::map<ShapeVariables, KernelTime> times;            ///< the newest time on each shape
  std::map<std::string, ShapeVariables> checked_shapes;  ///< by name
};

/// Kernels with comparable times, because all ran on one device model.
struct BundleTarget {
  DeviceInfo device;
  std::vector<BundleKernel> kernels;
  std::map<ShapeVariables, std::string> shapes;  ///< names of the timed shapes
  std::map<ShapeVariables, ShapeWinner> winners;
  /// Spaces whose default configuration is not among `kernels`.
  std::vector<std::string> missing_defaults;
};

/// For each device model (measured and predicted times separately): all kernels that were in the
/// elite of a run, and so passed a full check. A kernel has a time on a shape if the kernel was
/// green in a run that timed this shape. Kernels that any run withdrew or rejected are left out; a
/// withdrawal by the profile gate excludes the kernel on the shape of that run only.
[[nodiscard]] std::vector<BundleTarget> bundle_targets(const std::vector<BundleSource>& sources);

/// A target (device model) of a bundle that holds only the kernel of `candidate`. For a duplicate,
/// uses the first candidate with the same kernel. Throws DbError if the candidate has no time.
[[nodiscard]] BundleTarget target_of(const Store& store, CandidateId candidate);

}  // namespace evo
