#pragma once

#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/evaluate/workbench.hpp"
#include "engine/evolve/strategy.hpp"
#include "engine/run/objective.hpp"
#include "engine/run/tournament.hpp"
#include "engine/run/tuner_options.hpp"

namespace evo {

/// The records that a run made before it was interrupted; empty for a new run.
struct RunHistory {
  std::vector<StoredEvaluation> evaluations;
  std::vector<StoredGeneration> generations;
};

/// A candidate that is to be evaluated, and where it comes from.
struct Planned {
  Candidate candidate;
  std::string origin;
  std::string milestone = {};
};

/// The position of a candidate in the run.
struct SlotPlace {
  int generation = 0;
  int position = 0;
};

/// The part of a run that belongs to one timed shape: a run in the database, a strategy that
/// observes the times on this shape, and an elite. A run over several shapes has a ShapeRun for
/// each shape.
class ShapeRun {
 public:
  /// All references must outlive this object. `shape`: index of the shape in the task.
  ShapeRun(Workbench& bench, RunStore& store, RunId run, const TunerOptions& options,
           std::size_t shape);

  [[nodiscard]] RunId run() const { return run_; }
  [[nodiscard]] const std::string& shape_name() const { return bench_.task().shape(shape_).name; }
  [[nodiscard]] Strategy& strategy() { return *strategy_; }
  [[nodiscard]] const Tournament& tournament() const { return tournament_; }
  [[nodiscard]] const Elite& elite() const { return tournament_.elite(); }
  /// The time above which a kernel cannot enter the elite and is timed coarsely. If the elite has n
  /// places, the limit is the time of the last member, or of the (n + 1)-th best kernel of this
  /// generation (not the n-th, because a kernel may turn out to be wrong). Infinite in recordings
  /// and unless the objective is the time.
  [[nodiscard]] double early_stop_us() const;
  /// The progress of the run over this shape, for users.
  struct Standing {
    /// time of the elite's first member; without an elite, of the fastest green kernel; 0: none
    double best_us = 0;
    std::size_t left_out = 0;  ///< green kernels not compared with the elite for lack of time
    std::optional<double> control_drift = {};  ///< the last known drift of the control's time
  };
  [[nodiscard]] Standing standing() const;

  void take_history(RunHistory history);
  /// Whether the history has this configuration at this position.
  [[nodiscard]] bool knows(const SlotPlace& place, const std::string& config_json) const;
  /// Removes the evaluation at this position from the history and returns it.
  [[nodiscard]] StoredEvaluation take_recorded(const SlotPlace& place);

  /// Converts an evaluation to its record.
  [[nodiscard]] EvaluationRecord record_of(const SlotPlace& place, const Planned& planned,
                                           const Evaluation& evaluation) const;
  /// Adds a finished evaluation to the generation and shows it to the strategy; null for a recorded
  /// evaluation. Returns its record. A duplicate gets the outcome of the first candidate with the
  /// same kernel.
  const EvaluationRecord& take(const Candidate& candidate, StoredEvaluation stored,
                               const Evaluation* evaluation);

  /// Lets the green kernels of the generation challenge the elite, times the control, and records
  /// the generation with the elite. In a resumed run, restores the recorded state instead.
  Task<> close_generation(int generation, double wall_ms);
  /// Closes the generation when the time is over: compares as many kernels as time allows, and does
  /// not time the control. Does nothing if the generation is closed or empty.
  void close_unfinished(int generation, double wall_ms);
  /// Green kernels that failed when they ran again in this generation, with the reason, by kernel
  /// key. Kernels that the profile gate withdrew are left out, because its verdict applies to one
  /// shape only.
  [[nodiscard]] std::map<std::string, Rejection> withdrawn_in(int generation) const;
  /// Removes a kernel from the elite because the kernel failed on another shape.
  void dismiss(int generation, const std::string& kernel_key, const Rejection& why);
  /// Applies a last gate to the elite, best first. A member that fails leaves permanently. The
  /// fastest green kernel outside of the elite then challenges the remaining members and must also
  /// pass the gate. At most three further kernels are tried for each place. If the gate cannot
  /// judge, all members stay. Throws Interrupted if a stop is requested.
  void hold_elite(const LastGate& gate);

 private:
  /// A candidate with the parts of its outcome that later candidates and the elite need.
  struct Judged {
    Candidate candidate;
    StoredEvaluation stored;
    std::optional<KernelUnderTest> kernel = {};  ///< for a new green candidate
    bool screened = true;                        ///< assumed for recorded candidates, whose records
                                                 ///< do not say

    [[nodiscard]] bool is_green() const {
      const EvaluationRecord& record = stored.record;
      return record.timing && !record.rejection && !record.duplicate_of;
    }
  };

  void observe(const Judged& judged);
  [[nodiscard]] std::optional<double> objective_of(const Judged& judged) const;
  /// Whether the candidate is green, was timed precisely, and has a known objective.
  [[nodiscard]] bool may_challenge(const Judged& judged) const;
  [[nodiscard]] EliteMember member_of(const Judged& judged) const;
  [[nodiscard]] KernelUnderTest kernel_of(const Judged& judged) const;
  [[nodiscard]] std::vector<EliteMember> challengers() const;
  Task<> challenge(int generation, std::vector<EliteMember> challengers);
  Task<std::optional<double>> time_control(int generation);
  void admit_fastest(int generation);
  void choose_control();
  void restore_generation(const GenerationRecord& generation);
  void record_generation(int generation, double wall_ms, const std::optional<double>& control_us);
  [[nodiscard]] bool is_recorded_elite() const;
  void record_elite();
  void end_generation(int generation);
  [[nodiscard]] std::size_t rejected_last(Gate gate) const;
  [[nodiscard]] std::optional<EliteMember> next_in_line(const std::set<CandidateId>& without) const;

  Workbench& bench_;
  RunStore& store_;
  RunId run_;
  std::size_t shape_;
  Aim aim_;
  Objective objective_;
  std::unique_ptr<Strategy> strategy_;
  Tournament tournament_;
  double fastest_us_ = 0;
  std::size_t left_out_ = 0;
  std::optional<double> control_drift_;
  /// The time from which on the control may be timed again.
  std::chrono::steady_clock::time_point control_due_ = {};

  std::map<std::pair<int, int>, StoredEvaluation> history_;  ///< by generation and position
  std::deque<GenerationRecord> recorded_generations_;        ///< generations that are still to be
                                                             ///< replayed
  std::map<CandidateId, Judged> judged_;
  std::map<std::string, CandidateId> first_of_kernel_;
  std::vector<CandidateId> of_generation_;  ///< candidates of the current generation
  bool all_recorded_ = true;                ///< whether all candidates of the current generation
                                            ///< come from the history
  int closed_ = -1;                         ///< number of the last recorded generation
  GenerationRecord last_;                   ///< the last recorded generation
};

}  // namespace evo
