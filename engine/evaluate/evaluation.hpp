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

/// A finished compilation.
struct Built {
  CompilationRecord record;
  std::optional<CompilationId> id = {};  ///< nullopt if the compilation is not worth storing
  double compile_ms = 0;                 ///< 0 if stored before or compiled for another candidate
};

/// The results of the gates on one timed shape.
struct ShapeEvaluation {
  std::size_t shape = 0;  ///< number for TuningTask::shape()
  LaunchPlan launch = {};
  /// Dynamic shared memory, such that its sum with the build's static shared memory is the total of
  /// the step that uses the most shared memory.
  int dynamic_shared_bytes = 0;
  std::optional<Timing> timing = {};
  TimingPlace place = {};              ///< host and device that timed the kernel
  std::optional<CardState> card = {};  ///< state of the card during the timing
  std::optional<Energy> energy = {};   ///< set if the objective needs the energy
  double time_ms = 0;
  /// Times above this limit are measured coarsely.
  double early_stop_us = std::numeric_limits<double>::infinity();
};

/// All results of the gates about one candidate.
struct Evaluation {
  Candidate candidate;
  Built built = {};
  /// equal for candidates with the same kernel; empty if the candidate did not build
  std::string kernel_key = {};
  std::vector<CompiledEntry> entries = {};   ///< the distinct entries of the launch's steps
  std::vector<ShapeEvaluation> shapes = {};  ///< in the requested order; at least one
  std::vector<CheckResult> checks = {};
  std::optional<Rejection> rejection = {};  ///< a rejection on one shape rejects the candidate
  /// the candidate passed the quick check and needs the full check before it enters the elite
  bool screened = false;
  bool was_run = false;    ///< whether the kernel ran on a device
  bool duplicate = false;  ///< the kernel was judged before and is not run again
  double check_ms = 0;

  [[nodiscard]] bool is_green() const { return timing() && !rejection && !duplicate; }
  /// The timing on the first shape.
  [[nodiscard]] const std::optional<Timing>& timing() const { return shapes.front().timing; }
  /// Results on the shape with this number; null if the candidate was not judged on it.
  [[nodiscard]] const ShapeEvaluation* on(std::size_t shape) const;

  /// Copies the results that a device has measured for the same kernel.
  void take_measurements(const Evaluation& other);
  /// Discards a device's results, because the results of an earlier candidate with this kernel
  /// apply.
  void become_duplicate();
};

}  // namespace evo
