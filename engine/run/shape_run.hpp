#pragma once

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

/// The records of a run before it was interrupted; empty for a new one.
struct RunHistory {
  std::vector<StoredEvaluation> evaluations;
  std::vector<StoredGeneration> generations;
};

/// A candidate that is to be evaluated.
struct Planned {
  Candidate candidate;
  std::string origin;
  std::string milestone = {};
};

/// Its place in the run.
struct SlotPlace {
  int generation = 0;
  int position = 0;
};

/// The part of a run that each timed shape has of its own: a run in the database, a strategy that
/// hears the times on this shape, and an elite. Runs over several shapes have one of these for
/// each.
class ShapeRun {
 public:
  /// All references must outlive this. `shape`: of the task.
  ShapeRun(Workbench& bench, RunStore& store, RunId run, const TunerOptions& options,
           std::size_t shape);

  [[nodiscard]] RunId run() const { return run_; }
  [[nodiscard]] const std::string& shape_name() const { return bench_.task().shape(shape_).name; }
  [[nodiscard]] Strategy& strategy() { return *strategy_; }
  [[nodiscard]] const Tournament& tournament() const { return tournament_; }
  [[nodiscard]] const Elite& elite() const { return tournament_.elite(); }
  /// A kernel that is slower cannot enter the elite, and is timed coarsely: it is slower than the
  /// last member, or than one kernel more of this generation than the elite has places (one of
  /// these may turn out to be wrong). Infinite in recordings, and unless the objective is the time.
  [[nodiscard]] double early_stop_us() const;
  /// Where the run over this shape stands, for people.
  struct Standing {
    double best_us = 0;        ///< of the elite's first; before there is one, of the fastest green
                               ///< kernel; 0: none yet
    std::size_t left_out = 0;  ///< green, and not compared with the elite for want of time
    std::optional<double> control_drift = {};  ///< the last one that is known
  };
  [[nodiscard]] Standing standing() const;

  void take_history(RunHistory history);
  /// Whether its history has this configuration at this place.
  [[nodiscard]] bool knows(const SlotPlace& place, const std::string& config_json) const;
  /// Takes it out of the history.
  [[nodiscard]] StoredEvaluation take_recorded(const SlotPlace& place);

  /// The record of an evaluation.
  [[nodiscard]] EvaluationRecord record_of(const SlotPlace& place, const Planned& planned,
                                           const Evaluation& evaluation) const;
  /// A finished evaluation, new or recorded (null): the strategy observes it, and it belongs to the
  /// generation. Returns its record, with the outcome of its first where it is the same kernel.
  const EvaluationRecord& take(const Candidate& candidate, StoredEvaluation stored,
                               const Evaluation* evaluation);

  /// The green kernels of the generation challenge the elite, the control is timed, and the
  /// generation is recorded with the elite; or all that is as it was recorded.
  Task<> close_generation(int generation, double wall_ms);
  /// Out of time: as far as the time goes, and without the control. Does nothing where the
  /// generation is closed or empty.
  void close_unfinished(int generation, double wall_ms);
  /// Kernels that were green and failed when they were run again in this generation, and why, by
  /// key. A verdict of the profile gate counts for one shape only.
  [[nodiscard]] std::map<std::string, Rejection> withdrawn_in(int generation) const;
  /// A kernel that failed on another shape leaves this elite as well.
  void dismiss(int generation, const std::string& kernel_key, const Rejection& why);
  /// Holds the elite against a last gate, best first. A member that fails leaves for good. For it
  /// the next in line, the fastest green kernel that is not in the elite, challenges the members
  /// that are left, and goes through the gate when it gets in: at most three further kernels for
  /// each place. Where the gate cannot tell, all members stay. Throws Interrupted.
  void hold_elite(const LastGate& gate);

 private:
  /// A candidate with its outcome, as later candidates and the elite need it.
  struct Judged {
    Candidate candidate;
    StoredEvaluation stored;
    std::optional<KernelUnderTest> kernel = {};  ///< of a new green one
    bool screened = true;                        ///< perhaps: a recorded one does not say

    [[nodiscard]] bool is_green() const {
      const EvaluationRecord& record = stored.record;
      return record.timing && !record.rejection && !record.duplicate_of;
    }
  };

  void observe(const Judged& judged);
  [[nodiscard]] std::optional<double> objective_of(const Judged& judged) const;
  /// Whether it is green, timed closely, and its objective is known.
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

  std::map<std::pair<int, int>, StoredEvaluation> history_;  ///< generation, position
  std::deque<GenerationRecord> recorded_generations_;        ///< still to come
  std::map<CandidateId, Judged> judged_;
  std::map<std::string, CandidateId> first_of_kernel_;
  std::vector<CandidateId> of_generation_;  ///< the one that is being judged
  bool all_recorded_ = true;                ///< these
  int closed_ = -1;                         ///< the last generation that is
  GenerationRecord last_;                   ///< as it was recorded
};

}  // namespace evo
