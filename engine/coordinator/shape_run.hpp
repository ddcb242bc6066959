#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/coordinator/contest.hpp"
#include "engine/coordinator/objective.hpp"
#include "engine/coordinator/tuner_options.hpp"
#include "engine/evolve/strategy.hpp"

namespace evo {

/// What a run recorded before it was interrupted; empty for a new one.
struct RunHistory {
  std::vector<StoredEvaluation> evaluations;
  std::vector<StoredGeneration> generations;
};

/// A candidate that is to be evaluated.
struct Planned {
  Candidate candidate;
  std::string origin;
  std::string milestone = {};
  bool is_measured = true;   ///< otherwise its time is predicted (Shortlist)
  bool is_returned = false;  ///< it was predicted before
};

/// Its place in the run.
struct SlotPlace {
  int generation = 0;
  int position = 0;
};

/// What one timed shape has of its own: a run in the database, a strategy that hears the times on
/// this shape, and an elite. Runs over several shapes have one of these for each.
class ShapeRun {
 public:
  /// All references must outlive this. `shape`: which of the harness's it is about.
  ShapeRun(Harness& harness, RunStore& store, RunId run, const TunerOptions& options,
           std::size_t shape);

  [[nodiscard]] RunId run() const { return run_; }
  [[nodiscard]] std::size_t shape() const { return shape_; }
  [[nodiscard]] const std::string& shape_name() const { return harness_.shape(shape_).name; }
  [[nodiscard]] Strategy& strategy() { return *strategy_; }
  [[nodiscard]] const Elite& elite() const { return contest_.elite(); }
  [[nodiscard]] bool allows(const Candidate& candidate) const {
    return harness_.allows(candidate, shape_);
  }
  /// What is slower is timed roughly: nothing, where the objective is another one than the time.
  [[nodiscard]] double give_up_us() const;
  /// The time of the elite's first, which comparisons decide; before there is one, the fastest
  /// green time. 0: none yet.
  [[nodiscard]] double best_us() const {
    return elite().members().empty() ? fastest_us_ : elite().members().front().p50_us;
  }
  /// Green, and not compared with the elite for want of time.
  [[nodiscard]] std::size_t left_out() const { return left_out_; }
  /// The last one that is known.
  [[nodiscard]] const std::optional<double>& control_drift() const { return control_drift_; }

  void take_history(RunHistory history);
  /// Whether its history has this configuration at this place.
  [[nodiscard]] bool knows(const SlotPlace& place, const std::string& config_json) const;
  /// Takes it out of the history.
  [[nodiscard]] StoredEvaluation take_recorded(const SlotPlace& place);

  /// What is to be stored of a judgement.
  [[nodiscard]] EvaluationRecord record_of(const SlotPlace& place, const Planned& planned,
                                           const Judgement& judgement) const;
  /// A finished evaluation, new (with its judgement) or recorded: the strategy observes it, and it
  /// belongs to the generation. Returns its record with the outcome of its first, where it is the
  /// same kernel.
  /// `energy`: of a recorded one, by a long window.
  const EvaluationRecord& take(CandidateId id, const Candidate& candidate, EvaluationRecord record,
                               const Judgement* judgement, const std::optional<Energy>& energy);

  /// The green kernels of the generation challenge the elite, the control is timed, and the
  /// generation is recorded with the elite; or all that is as it was recorded.
  void close_generation(int generation, double wall_ms);
  /// Kernels that were green and failed when they were run again in this generation, and why, by
  /// key. What a kernel counts at the profile gate is of one shape.
  [[nodiscard]] std::map<std::string, Rejection> withdrawn_in(int generation) const;
  /// Holds the elite against a last gate, best first. Who fails leaves for good. For it the next in
  /// line, the fastest green kernel that is not in the elite, challenges those that are left, and
  /// goes through the gate when it gets in: at most three further kernels for each place. Where the
  /// gate cannot tell, all stay that are there. Throws Interrupted.
  void hold_elite(const LastGate& gate);
  /// One that failed on another shape: it is no kernel for this one either.
  void dismiss(int generation, const std::string& kernel_key, const Rejection& why);
  /// Out of time: as far as the time goes, and without the control. Nothing where the generation is
  /// closed or holds nothing.
  void close_unfinished(int generation, double wall_ms);

 private:
  /// A finished evaluation, new or recorded.
  struct Outcome {
    CandidateId id = 0;
    Candidate candidate;
    EvaluationRecord record;
    std::optional<KernelUnderTest> kernel = {};  ///< of a new green one
    bool screened = true;                        ///< perhaps: a recorded one does not say
    std::optional<Energy> energy = {};           ///< of a long window: of a recorded one
  };
  /// What later candidates ask of the first one with the same kernel.
  struct Fate {
    CandidateId id = 0;
    std::optional<Timing> timing;
    std::optional<Energy> energy;
    std::optional<Rejection> rejection;
  };
  /// What it takes to run a green kernel again.
  struct Green {
    Candidate candidate;
    CompilationId compilation = 0;
    std::string kernel_key;
    double p50_us = 0;
    bool complete = false;            ///< its timing
    std::optional<double> objective;  ///< where it is another one than the time
  };

  void remember(const Outcome& outcome);
  void observe(const Outcome& outcome);
  [[nodiscard]] std::optional<double> objective_of(const Outcome& outcome) const;
  [[nodiscard]] EliteMember member_of(const Outcome& outcome) const;
  [[nodiscard]] KernelUnderTest stored_kernel(const Green& green) const;
  void challenge(int generation);
  void admit_fastest(int generation);
  void choose_control();
  void restore_generation(const GenerationRecord& generation);
  void record_generation(int generation, double wall_ms, const std::optional<double>& control_us);
  [[nodiscard]] bool is_recorded_elite() const;
  void record_elite();
  void end_generation(int generation);
  [[nodiscard]] std::size_t rejected_last(Gate gate) const;
  [[nodiscard]] std::optional<EliteMember> next_in_line(const std::set<CandidateId>& without) const;

  Harness& harness_;
  RunStore& store_;
  RunId run_;
  std::size_t shape_;
  Aim aim_;
  Objective objective_;
  std::unique_ptr<Strategy> strategy_;
  Contest contest_;
  double fastest_us_ = 0;
  std::size_t left_out_ = 0;
  std::optional<double> control_drift_;

  std::map<std::pair<int, int>, StoredEvaluation> history_;  ///< generation, position
  std::deque<GenerationRecord> recorded_generations_;        ///< still to come
  std::vector<Outcome> outcomes_;                            ///< of the generation being judged
  bool all_recorded_ = true;                                 ///< these
  int closed_ = -1;                                          ///< the last generation that is
  GenerationRecord last_;                                    ///< as it was recorded
  std::map<std::string, Fate> first_of_kernel_;
  std::map<CandidateId, Green> green_;
};

}  // namespace evo
