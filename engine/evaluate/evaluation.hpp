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

/// A compilation that is over.
struct Built {
  CompilationRecord record;
  std::optional<CompilationId> id = {};  ///< nothing when it was not worth storing
  double compile_ms = 0;  ///< 0 when the database knew it, or it was compiled for another candidate
};

/// The findings of the gates on one timed shape.
struct ShapeEvaluation {
  std::size_t shape = 0;  ///< of TuningTask::shape()
  LaunchPlan launch = {};
  /// Beside the static shared memory of the build, so that together they are what the step with
  /// most has.
  int dynamic_shared_bytes = 0;
  std::optional<Timing> timing = {};
  TimingPlace place = {};              ///< of the timing
  std::optional<CardState> card = {};  ///< while it was timed
  std::optional<Energy> energy = {};   ///< where the objective asks for it
  double time_ms = 0;
  /// A kernel slower than this was timed coarsely.
  double early_stop_us = std::numeric_limits<double>::infinity();
};

/// All that the gates found out about one candidate.
struct Evaluation {
  Candidate candidate;
  Built built = {};
  std::string kernel_key = {};  ///< equal for candidates that are one kernel; empty unless it built
  std::vector<CompiledEntry> entries = {};   ///< the entries that the steps of a launch name
  std::vector<ShapeEvaluation> shapes = {};  ///< as they were asked for; at least one
  std::vector<CheckResult> checks = {};
  std::optional<Rejection> rejection = {};  ///< a rejection on one shape counts for all
  bool screened = false;   ///< it had the quick check: the full check comes before an elite
  bool was_run = false;    ///< on a device
  bool duplicate = false;  ///< its kernel was judged before: not run again
  double check_ms = 0;

  [[nodiscard]] bool is_green() const { return timing() && !rejection && !duplicate; }
  /// On the first of its shapes.
  [[nodiscard]] const std::optional<Timing>& timing() const { return shapes.front().timing; }
  /// On that shape; null where it was not judged.
  [[nodiscard]] const ShapeEvaluation* on(std::size_t shape) const;

  /// Takes over the findings of a device about the same kernel.
  void take_measurements(const Evaluation& other);
  /// Forgets the findings of a device: those of the candidate that was judged before count.
  void become_duplicate();
};

}  // namespace evo
