#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "engine/run/run_progress.hpp"
#include "engine/run/shape_run.hpp"

namespace evo {

/// A candidate that was just recorded, with its record on each shape on which it was judged.
struct Evaluated {
  struct OnShape {
    std::string shape;
    const EvaluationRecord* record = nullptr;
  };
  std::vector<OnShape> shapes;  ///< at least one
};

/// The elite on one shape.
struct ShapeElite {
  std::string shape;
  const std::vector<EliteMember>* members = nullptr;
};

/// The interface through which displays follow a run. All calls come from the thread that called
/// Tuner::run().
class TunerObserver {
 public:
  virtual ~TunerObserver() = default;
  virtual void on_evaluated(const Evaluated& evaluated, const RunProgress& progress) = 0;
  virtual void on_generation(const RunProgress& progress,
                             const std::vector<ShapeElite>& elites) = 0;
};

enum class TunerEnd { kFinished, kExhausted, kOutOfTime, kInterrupted };

/// The loop of a run. The candidates are numbered 0, 1, 2, …: first the milestones, then the
/// default configuration and the best candidates of earlier runs, then the strategy's proposals.
/// Generation 0 contains all candidates before the strategy's proposals and the first `offspring`
/// proposals; each later generation contains `offspring` proposals. The last generation is shorter
/// if the limit `candidates` or the time limit is reached, or if no strategy has a further
/// proposal.
///
///   1. Propose candidate t and start its evaluation (Evaluator::evaluate) when the outcomes of
///      candidates 0 to t − w are known, where w is in_flight_at(t, max_in_flight), or
///      `max_in_flight` for candidates that no strategy proposes and for strategies that do not
///      learn.
///   2. Evaluate up to `max_in_flight` candidates in parallel, on any free compilers and devices.
///   3. Record each candidate in one transaction, in the order of candidates, and let the strategy
///      observe the outcome. If the run is killed, outcomes of candidates after the first
///      unfinished candidate are lost.
///   4. At the end of a generation, let its green kernels challenge the elite (Tournament). Time
///      the control, and record the generation with the elite.
/// The proposals are therefore a function of the seed and of the outcomes in the order of the
/// candidates. The proposals do not depend on the number of devices or on which evaluation finishes
/// first.
///
/// A resumed run proposes the recorded candidates again, uses recorded outcomes and elites instead
/// of evaluating, and continues as if it had not been interrupted. Shortly before its time limit, a
/// run ends the current generation: evaluations stop early enough to leave time for comparisons
/// with the elite (if times are measured), finished candidates are recorded even if they follow an
/// unfinished one, and the control is not timed.
///
/// A run with Aim::kRecord evaluates no milestones and makes no comparisons with the elite. The
/// control of such a run is the first green candidate: the default configuration if that is green.
///
/// With several shapes, a candidate is compiled and checked once, and timed on each shape for which
/// the space allows it. Each shape has an elite and a strategy (ShapeRun). The strategies propose
/// in turn, and each strategy observes all outcomes on its shape. A kernel that is withdrawn on one
/// shape is withdrawn on all shapes, unless the profile gate withdrew it.
class Tuner {
 public:
  /// All references must outlive the tuner. `runs`: the stored run for each shape of the task.
  Tuner(Workbench& bench, RunStore& store, const std::vector<RunId>& runs,
        const TunerOptions& options, TunerObserver& observer);

  /// Executes the run. `histories`: the history of each run of the constructor's `runs`; an empty
  /// vector if the runs are new. When `stop` becomes true, the run is interrupted.
  [[nodiscard]] TunerEnd run(std::vector<RunHistory> histories, const std::atomic<bool>& stop);

  /// Applies a last gate to the elite of a shape, withdraws kernels that fail, and tries other
  /// green kernels in their place (ShapeRun::hold_elite). Call hold_elite() after run(). Throws
  /// Interrupted if a stop is requested.
  void hold_elite(std::size_t shape, const LastGate& gate);

  [[nodiscard]] const Elite& elite(std::size_t shape = 0) const {
    return shapes_.at(shape)->tournament().elite();
  }
  /// The control of the first shape; null if there is no control yet.
  [[nodiscard]] const EliteMember* control() const {
    return shapes_.front()->tournament().control();
  }
  [[nodiscard]] const RunProgress& progress() const { return progress_; }

 private:
  /// An evaluation in the background, and its outcome when it is finished.
  struct Flight {
    explicit Flight(EventLoop& loop) : done(loop) {}
    Event done;
    std::optional<Evaluation> evaluation = {};
  };
  /// A candidate that was proposed and is not recorded yet.
  struct Slot {
    SlotPlace place;
    Planned planned;
    Turn turn = 0;
    std::shared_ptr<Flight> flight = {};  ///< null if the candidate comes from the history of a
                                          ///< resumed run
  };

  void plan_initial_population();
  [[nodiscard]] double seconds_to_compare() const;
  [[nodiscard]] std::optional<Planned> next_planned();
  [[nodiscard]] std::optional<Planned> propose(ShapeRun& shape);
  [[nodiscard]] bool is_under_way(const Candidate& candidate) const;
  [[nodiscard]] std::vector<ShapeRun*> shapes_for(const Candidate& candidate) const;
  [[nodiscard]] std::size_t size_of(int generation) const;
  [[nodiscard]] std::size_t most_evaluations() const;
  [[nodiscard]] bool is_recorded(const Slot& slot) const;
  void fill_slots();
  void start(Slot& slot);
  [[nodiscard]] EvaluateOptions options_for(const Slot& slot) const;
  static Task<> fly(std::shared_ptr<Flight> flight, Task<Evaluation> evaluation);
  [[nodiscard]] TunerEnd search_until(const std::atomic<bool>& stop);
  Task<TunerEnd> search();
  /// Waits for a candidate's outcome; nullopt if the history of a resumed run has the candidate.
  Task<std::optional<Evaluation>> outcome_of(const Slot& slot);
  [[nodiscard]] Evaluation take_outcome(Flight& flight) const;
  void note_early_stops(Evaluation& evaluation) const;
  [[nodiscard]] bool must_be_timed_again(const Evaluation& evaluation) const;
  void settle(const Slot& slot, const std::optional<Evaluation>& evaluation);
  Task<> close_generation();
  void withdraw_everywhere();
  void interpret_elites();
  void settle_finished();
  void close_unfinished_generation(const Stop& stop);
  void tell_progress();
  void tell_generation();
  [[nodiscard]] double generation_ms() const;
  [[nodiscard]] SteadyTime after(double seconds) const;

  Workbench& bench_;
  RunStore& store_;
  TunerOptions options_;
  TunerObserver& observer_;
  std::vector<std::unique_ptr<ShapeRun>> shapes_;
  RunProgress progress_;
  SteadyTime started_;
  SteadyTime generation_started_;
  double longest_comparison_s_ = 0;  ///< longest time of a generation's comparisons

  std::deque<Planned>
      initial_population_;         ///< candidates known in advance that were not started yet
  std::vector<Candidate> opened_;  ///< all candidates known in advance
  std::deque<Slot> slots_;         ///< unrecorded candidates, oldest first
  std::size_t started_slots_ = 0;
  std::size_t next_shape_ = 0;  ///< index of the shape whose strategy proposes next
  int next_generation_ = 0;     ///< generation of the next slot
  std::size_t next_position_ = 0;
  bool exhausted_ = false;  ///< no strategy has more proposals
  int generation_ = 0;      ///< the generation being judged
  std::size_t settled_of_generation_ = 0;
};

}  // namespace evo
