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
  std::optional<CompilationId> id = {};  ///< nullopt if it is not worth storing
  double compile_ms = 0;  ///< 0 if it came from the database or was compiled for another candidate
};

/// The results of the gates on one timed shape.
struct ShapeEvaluation {
  std::size_t shape = 0;  ///< number for TuningTask::shape()
  LaunchPlan launch = {};
  /// Dynamic shared memory, counted so that the sum with the static shared memory of the build is
  /// that of the step with the most.
  int dynamic_shared_bytes = 0;
  std::optional<Timing> timing = {};
  TimingPlace place = {};              ///< where it was timed
  std::optional<CardState> card = {};  ///< state during the timing
  std::optional<Energy> energy = {};   ///< set if the objective needs it
  double time_ms = 0;
  /// A kernel slower than this was timed coarsely.
  double early_stop_us = std::numeric_limits<double>::infinity();
};

/// All results of the gates about one candidate.
struct Evaluation {
  Candidate candidate;
  Built built = {};
  /// equal for candidates with the same kernel; empty unless it built
  std::string kernel_key = {};
  std::vector<CompiledEntry> entries = {};   ///< the distinct entries of the launch's steps
  std::vector<ShapeEvaluation> shapes = {};  ///< in the requested order; at least one
  std::vector<CheckResult> checks = {};
  std::optional<Rejection> rejection = {};  ///< a rejection on one shape counts for all
  /// it passed the quick check and needs the full check before it enters the elite
  bool screened = false;
  bool was_run = false;    ///< time on a device
  bool duplicate = false;  ///< its kernel was judged before and is not run again
  double check_ms = 0;

  [[nodiscard]] bool is_green() const { return timing() && !rejection && !duplicate; }
  /// On the first of its shapes.
  [[nodiscard]] const std::optional<Timing>& timing() const { return shapes.front().timing; }
  /// Results on that shape; null if it was not judged there.
  [[nodiscard]] const ShapeEvaluation* on(std::size_t shape) const;

  /// Adopts a device's results about the same kernel.
  void take_measurements(const Evaluation& other);
  /// Discards a device's results, because those of the candidate judged before apply.
  void become_duplicate();
};

}  // namespace evo
