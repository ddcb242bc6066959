#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "db/records.hpp"
#include "engine/compile/entry_symbol.hpp"
#include "engine/core/candidate.hpp"
#include "engine/core/launch_config.hpp"

namespace evo {

/// The results of the gates on one timed shape.
struct ShapeEvaluation {
  std::size_t shape = 0;  ///< number for TuningTask::shape()
  LaunchPlan launch = {};
  /// The most shared memory that a step of the launch uses per CTA, minus the static shared memory
  /// of the build; at least 0.
  int dynamic_shared_bytes = 0;
  std::optional<Timing> timing = {};
  TimingPlace place = {};             ///< host and device that timed the kernel
  std::optional<GpuState> gpu = {};   ///< state of the GPU during the timing
  std::optional<Energy> energy = {};  ///< set if the objective needs the energy
  double time_ms = 0;                 ///< wall time of the timing and of the energy measurement
  /// A kernel that is certainly slower than this limit is timed coarsely.
  double early_stop_us = std::numeric_limits<double>::infinity();
};

/// All results of the gates about one candidate.
struct Evaluation {
  Candidate candidate;
  /// without an id if the compiler was killed or failed; such a result is not stored
  CompilationRecord compilation = {};
  /// equal for candidates with the same kernel; empty if the candidate did not build
  std::string kernel_key = {};
  std::vector<CompiledEntry> entries = {};   ///< the distinct entries of the launch's steps
  std::vector<ShapeEvaluation> shapes = {};  ///< in the requested order; at least one
  std::vector<CheckResult> checks = {};
  std::optional<Rejection> rejection = {};  ///< a rejection on one shape rejects the candidate
  /// the candidate passed a quick check and needs the full check before it enters the elite
  bool only_quick_check = false;
  bool was_run = false;    ///< whether the kernel ran on a device
  bool duplicate = false;  ///< the kernel was judged before and is not run again
  double check_ms = 0;     ///< wall time of the check

  [[nodiscard]] bool is_green() const { return timing() && !rejection && !duplicate; }
  /// The timing on the first of `shapes`.
  [[nodiscard]] const std::optional<Timing>& timing() const { return shapes.front().timing; }
  /// The results on shape number `shape`; null if the candidate was not judged on this shape.
  [[nodiscard]] const ShapeEvaluation* on(std::size_t shape) const;

  /// Copies the results of the gates on a device from `other`, which has the same kernel.
  void take_measurements(const Evaluation& other);
  /// Marks this candidate as a duplicate and discards its results from a device, because an earlier
  /// candidate has the same kernel.
  void become_duplicate();
};

}  // namespace evo
