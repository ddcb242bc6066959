#pragma once

#include <atomic>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/coordinator/shape_run.hpp"
#include "engine/evolve/shortlist.hpp"

namespace evo {

/// Where a run stands.
struct RunProgress {
  int generation = 0;
  int generations = 0;
  std::size_t evaluated = 0;
  std::size_t recorded = 0;     ///< of them: taken from an interrupted run
  std::size_t to_evaluate = 0;  ///< in the whole run, at most
  std::size_t green = 0;
  std::size_t duplicates = 0;
  std::size_t unjudged = 0;
  std::size_t in_flight = 0;  ///< candidates
  std::size_t window = 0;     ///< that may be
  std::size_t left_out = 0;   ///< green, and not compared with the elite for want of time
  std::map<Gate, std::size_t> rejected;
  /// The fastest on each shape; 0: none yet.
  struct Best {
    std::string shape;
    double us = 0;
  };
  std::vector<Best> best;
  double elapsed_s = 0;
  double max_seconds = std::numeric_limits<double>::infinity();
  std::optional<double> control_drift = {};  ///< the last one that is known
  /// Where a shortlist works: how well predicted times rank measured ones, once that is known, and
  /// whether they are trusted.
  std::optional<double> rank_correlation = {};
  bool has_shortlist = false;
  bool trusts_predictions = false;
};

/// One candidate as it was recorded, for whoever watches: on every shape that it was judged on.
struct Evaluated {
  struct OnShape {
    std::string shape;
    CandidateId id = 0;
    const EvaluationRecord* record = nullptr;
  };
  std::vector<OnShape> shapes;  ///< at least one
};

/// The elite of one shape.
struct ShapeElite {
  std::string shape;
  const std::vector<EliteMember>* members = nullptr;
};

/// Watches a run; all calls come from the tuner's thread.
class TunerObserver {
 public:
  virtual ~TunerObserver() = default;
  virtual void on_evaluated(const Evaluated& evaluated, const RunProgress& progress) = 0;
  virtual void on_generation(const RunProgress& progress,
                             const std::vector<ShapeElite>& elites) = 0;
};

enum class TunerEnd { kFinished, kExhausted, kOutOfTime, kInterrupted };

/// The loop of a run. Candidates have slots 0, 1, 2, …: the milestones, the defaults, and then what
/// the strategy proposes. Generation 0 ends with the first `children` proposals, every later one
/// with as many more; the last one of a run is shorter when `candidates` are reached in it.
///
///   1. The candidate of slot t is proposed, and its compilation started, when the outcomes of all
///      slots up to t − w are known, w = in_flight_at(t, window), or `window` where the strategy
///      does not learn and for the milestones and defaults: so up to `window` candidates are in
///      flight, and which ones they are does not depend on what is quicker.
///   2. In the order of the slots, each goes through the gates and is recorded in one transaction,
///      while the device has begun with the next one; the strategy observes its outcome. While the
///      compiler of the oldest is not done, the device takes others; their outcomes wait for their
///      turn, and are lost with the run.
///   3. At the end of a generation its green kernels challenge the elite (Contest), the control is
///      timed, and the generation is recorded with the elite. Compilers work meanwhile.
/// A run that is resumed goes through the same steps with recorded outcomes in place of 2 and 3, so
/// that it continues as if it had never stopped. A run that is out of time ends the generation that
/// it is in: judging stops early enough to leave time for step 3.
///
/// With a shortlist, most proposals go through the gates that need no device, are predicted and
/// wait; a slot takes one of them back when it is to be measured. A generation has as many times
/// more slots, and one time for those that return.
///
/// A recording leaves out the milestones, and of step 3 the challenge. Its control is its first
/// green candidate: the defaults, where these are green.
///
/// Over several shapes a candidate is compiled and checked once, and timed on each shape where the
/// space allows it. Each shape has a strategy, which proposes in its turn and hears what became of
/// all candidates on its shape, and an elite (ShapeRun). What is withdrawn from one elite is from
/// all.
class Tuner {
 public:
  /// All references must outlive the tuner. `runs`: one for each shape of the harness.
  Tuner(Harness& harness, RunStore& store, const std::vector<RunId>& runs,
        const TunerOptions& options, TunerObserver& observer);

  /// `histories`: one for each run.
  [[nodiscard]] TunerEnd run(std::vector<RunHistory> histories, const std::atomic<bool>& stop);

  /// After run(): holds the elite of a shape against a gate that only the best go through, as
  /// ShapeRun::hold_elite(). Throws Interrupted.
  void hold_elite(std::size_t shape, const LastGate& gate);

  [[nodiscard]] const Elite& elite(std::size_t shape = 0) const {
    return shapes_.at(shape)->elite();
  }
  [[nodiscard]] const RunProgress& progress() const { return progress_; }

 private:
  /// A candidate in flight.
  struct Slot {
    SlotPlace place;
    Planned planned;
    bool is_recorded = false;             ///< in a run that is resumed
    Compilations::Ticket ticket = 0;      ///< otherwise
    std::optional<Judgement> ahead = {};  ///< what is known of it before its turn: it was built,
    bool is_measured = false;             ///< and measured,
    std::vector<double> give_up_us = {};  ///< by the elite of then,
    bool waits = false;                   ///< or its turn will tell what it is
  };
  /// One that has been through the gates.
  struct Judged {
    Slot slot;
    std::optional<Judgement> judgement = {};  ///< nothing where it is recorded
    std::optional<double> predicted_us = {};
  };

  void plan_opening();
  [[nodiscard]] double seconds_to_compare() const;
  [[nodiscard]] std::optional<Planned> next_planned();
  [[nodiscard]] static Planned returned(Candidate candidate);
  [[nodiscard]] std::optional<Planned> propose(ShapeRun& shape);
  [[nodiscard]] bool is_under_way(const Candidate& candidate) const;
  [[nodiscard]] std::vector<ShapeRun*> shapes_for(const Candidate& candidate) const;
  [[nodiscard]] std::size_t size_of(int generation) const;
  [[nodiscard]] std::size_t most_evaluations() const;
  [[nodiscard]] bool is_recorded(const Slot& slot) const;
  void fill_window();
  [[nodiscard]] TunerEnd search(const std::atomic<bool>& stop);
  [[nodiscard]] Judged judge(Slot& slot);
  [[nodiscard]] Judgement judge_new(Slot& slot);
  [[nodiscard]] Judgement judge_in_turn(Slot& slot);
  [[nodiscard]] bool can_build(const Slot& slot) const;
  /// The next slots, as far as that needs no device.
  void build_ahead();
  /// While the compiler of the oldest slot is not done, those behind it take their turns on the
  /// device.
  void measure_ahead();
  void measure_ahead(Slot& slot);
  [[nodiscard]] bool is_measured_ahead(const std::string& kernel_key) const;
  [[nodiscard]] bool must_be_timed_again(const Slot& slot, const Judgement& judgement) const;
  [[nodiscard]] std::vector<double> give_up_us() const;
  void set_range(const Slot& slot);
  /// What a shortlist learns of a recorded outcome.
  void tell_shortlist(const Judged& judged, const EvaluationRecord& record);
  /// Records what was judged last, unless that is done.
  void settle();
  void count(const EvaluationRecord& record);
  void close_generation();
  void withdraw_everywhere();
  void interpret_elites();
  void close_unfinished_generation(const Stop& stop);
  void tell_progress();
  void tell_generation();
  [[nodiscard]] double generation_ms() const;
  /// What profilers see of where the run is.
  [[nodiscard]] std::vector<std::string> ranges(int generation) const;
  [[nodiscard]] SteadyTime after(double seconds) const;

  Harness& harness_;
  RunStore& store_;
  TunerOptions options_;
  TunerObserver& observer_;
  std::vector<std::unique_ptr<ShapeRun>> shapes_;
  std::optional<Shortlist> shortlist_;
  RunProgress progress_;
  SteadyTime started_;
  SteadyTime generation_started_;

  std::deque<Planned> opening_;      ///< still to come
  std::vector<Candidate> opened_;    ///< all of them
  std::deque<Slot> slots_;           ///< in flight, oldest first
  std::optional<Judged> unsettled_;  ///< judged, not recorded yet
  std::size_t started_slots_ = 0;
  std::size_t next_shape_ = 0;  ///< whose strategy proposes next
  int next_generation_ = 0;     ///< of the next slot
  std::size_t next_position_ = 0;
  bool exhausted_ = false;  ///< no strategy has more
  int generation_ = 0;      ///< being judged
  std::size_t settled_of_generation_ = 0;
};

}  // namespace evo
