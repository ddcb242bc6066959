#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/evaluate/workbench.hpp"
#include "engine/evolve/strategy.hpp"
#include "engine/run/objective.hpp"
#include "engine/run/run_history.hpp"
#include "engine/run/tournament.hpp"
#include "engine/run/tuner_options.hpp"

namespace evo {

/// A candidate that is to be evaluated, with its origin (such as "milestone" or the name of a
/// strategy).
struct Planned {
  Candidate candidate;
  std::string origin;
  std::string milestone = {};
};

/// The part of a search that belongs to one timed shape: a run in the database, a strategy that
/// observes the times on this shape, and an elite. A search over several shapes has a ShapeRun for
/// each shape.
class ShapeRun {
 public:
  /// All references must outlive this object. `shape`: index of the shape in the task.
  ShapeRun(Workbench& bench, RunStore& store, RunId run, const TunerOptions& options,
           std::size_t shape);

  [[nodiscard]] RunId run() const { return run_; }
  [[nodiscard]] const std::string& shape_name() const { return bench_.task().shape(shape_).name; }
  [[nodiscard]] Strategy& strategy() { return *strategy_; }
  /// The part of the stored run that is still to be replayed.
  [[nodiscard]] RunHistory& history() { return history_; }
  [[nodiscard]] const Tournament& tournament() const { return tournament_; }
  /// The time in microseconds above which a kernel cannot enter the elite and is timed coarsely.
  /// For an elite of at most n kernels, this is the smaller of two times: that of the last member
  /// if the elite is full, and that of the (n + 1)-th best kernel of the elite and this generation.
  /// The n-th best does not suffice, because a better kernel may be withdrawn later; but it is used
  /// if launches are very long. Infinite if the run records the times of a space (Aim::kRecord), or
  /// if the objective is not the time.
  [[nodiscard]] double early_stop_us() const;
  /// The progress of the search on this shape, for users.
  struct Standing {
    /// time of the first member of the elite or, if the elite is empty, of the fastest green
    /// kernel; 0 if there is none
    double best_us = 0;
    std::size_t left_out = 0;  ///< green kernels not compared with the elite for lack of time
    std::optional<double> control_drift = {};  ///< the last known drift of the control's time
  };
  [[nodiscard]] Standing standing() const;

  /// Converts an evaluation to the record that the database stores for this shape.
  [[nodiscard]] EvaluationRecord record_of(const SlotPlace& place, const Planned& planned,
                                           const Evaluation& evaluation) const;
  /// Adds a stored candidate to the current generation and lets the strategy observe it.
  /// `evaluation`: the candidate's evaluation, or null if the candidate comes from the history. A
  /// duplicate gets the outcome of the first candidate with the same kernel. Returns the
  /// candidate's record.
  const EvaluationRecord& take(const Candidate& candidate, EvaluationRecord stored,
                               const Evaluation* evaluation);

  /// Ends a generation: lets its green kernels challenge the elite, times the control, and stores
  /// the generation with the elite. In a resumed run, if the generation is stored already, restores
  /// the stored elite instead.
  Task<> close_generation(int generation, double wall_ms);
  /// Ends a generation when the time limit is near: compares as many kernels as time allows, and
  /// does not time the control. Does nothing if the generation is closed or empty.
  void close_unfinished(int generation, double wall_ms);
  /// The kernels that were withdrawn in a generation, by kernel key, with the reason. Kernels that
  /// the profile gate withdrew are left out, because it judges them on one shape only.
  [[nodiscard]] std::map<std::string, Rejection> withdrawn_in(int generation) const;
  /// Withdraws a kernel from this shape's elite because the kernel failed on another shape.
  void dismiss(int generation, const std::string& kernel_key, const Rejection& why);
  /// Applies a last gate to the members of the elite, best first. A member that fails the gate is
  /// withdrawn, and the fastest green kernel outside the elite, which must also pass the gate,
  /// challenges the remaining members. For an elite of at most n kernels, the gate judges at most
  /// 4 n kernels. If the gate cannot judge any member, all members stay. Throws Interrupted if a
  /// stop is requested.
  void hold_elite(const LastGate& gate);

 private:
  /// A stored candidate, with what the elite needs to run its kernel again.
  struct Judged {
    Candidate candidate;
    EvaluationRecord record;
    std::optional<KernelUnderTest> kernel = {};  ///< for a new green candidate
    bool only_quick_check = true;                ///< assumed for recorded candidates, whose records
                                                 ///< do not say

    [[nodiscard]] bool is_green() const {
      return record.timing && !record.rejection && !record.duplicate_of;
    }
  };

  [[nodiscard]] const Elite& elite() const { return tournament_.elite(); }
  void observe(const Judged& judged);
  [[nodiscard]] std::optional<double> objective_of(const Judged& judged) const;
  /// True if the candidate is green, was timed precisely, and its objective is known.
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
  /// The control is not timed again before this point in time.
  std::chrono::steady_clock::time_point control_due_ = {};

  RunHistory history_;
  std::map<CandidateId, Judged> judged_;
  std::map<std::string, CandidateId> first_of_kernel_;
  std::vector<CandidateId> of_generation_;  ///< candidates of the current generation
  bool all_recorded_ = true;                ///< whether all candidates of the current generation
                                            ///< come from the history
  int closed_ = -1;                         ///< number of the last recorded generation
  GenerationRecord last_;                   ///< the last recorded generation
};

}  // namespace evo
