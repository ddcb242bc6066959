#pragma once

#include <atomic>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/coordinator/contest.hpp"
#include "engine/coordinator/harness.hpp"
#include "engine/evolve/strategy.hpp"

namespace evo {

/// What a run is for.
enum class Aim {
  kSearch,  ///< the fastest kernel: the elite, and no more time for a kernel that cannot enter it
  kRecord,  ///< the time of every candidate, all timed alike: no milestones, no elite, no
            ///< comparison
};

/// "search" or "record".
[[nodiscard]] std::string_view to_string(Aim aim);

/// No limit to the candidates of a run.
inline constexpr std::size_t kAnyNumber = std::numeric_limits<std::size_t>::max();

struct TunerOptions {
  Aim aim = Aim::kSearch;
  int generations = 20;
  std::size_t children = 8;             ///< proposals of a generation
  std::size_t candidates = kAnyNumber;  ///< of the whole run, at most
  std::size_t window = 8;               ///< candidates in flight
  std::size_t elite = 3;
  std::string strategy = "full";
  std::uint64_t seed = 1;
  double max_seconds = std::numeric_limits<double>::infinity();
  std::string objective = "time";  ///< see Objective
};

/// Where a run stands.
struct RunProgress {
  int generation = 0;
  int generations = 0;
  std::size_t evaluated = 0;
  std::size_t green = 0;
  std::size_t duplicates = 0;
  std::size_t unjudged = 0;
  std::size_t in_flight = 0;  ///< candidates
  std::size_t window = 0;     ///< that may be
  std::size_t left_out = 0;   ///< green, and not compared with the elite for want of time
  std::map<Gate, std::size_t> rejected;
  double best_us = 0;  ///< 0: none yet
  double elapsed_s = 0;
  std::optional<double> control_drift = {};  ///< the last one that is known
};

/// One candidate as it was recorded, for whoever watches.
struct Evaluated {
  CandidateId id = 0;
  const EvaluationRecord* record = nullptr;
};

/// Watches a run; all calls come from the tuner's thread.
class TunerObserver {
 public:
  virtual ~TunerObserver() = default;
  virtual void on_evaluated(const Evaluated& evaluated, const RunProgress& progress) = 0;
  virtual void on_generation(const RunProgress& progress,
                             const std::vector<EliteMember>& elite) = 0;
};

enum class TunerEnd { kFinished, kExhausted, kOutOfTime, kInterrupted };

/// What a run recorded before it was interrupted; empty for a new one.
struct RunHistory {
  std::vector<StoredEvaluation> evaluations;
  std::vector<StoredGeneration> generations;
};

/// The loop of a run. Candidates have slots 0, 1, 2, …: the milestones, the defaults, and then what
/// the strategy proposes. Generation 0 ends with the first `children` proposals, every later one
/// with as many more; the last one of a run is shorter when `candidates` are reached in it.
///
///   1. The candidate of slot t is proposed, and its compilation started, when the outcomes of all
///      slots up to t − w are known, w = in_flight_at(t, window), or `window` where the strategy
///      does not learn and for the milestones and defaults: so up to `window` candidates are in
///      flight, and which ones they are does not depend on what is quicker.
///   2. In the order of the slots, each goes through the gates and is recorded in one transaction,
///      while the device has begun with the next one; the strategy observes its outcome.
///   3. At the end of a generation its green kernels challenge the elite (Contest), the control is
///      timed, and the generation is recorded with the elite. Compilers work meanwhile.
/// A run that is resumed goes through the same steps with recorded outcomes in place of 2 and 3, so
/// that it continues as if it had never stopped. A run that is out of time ends the generation that
/// it is in: judging stops early enough to leave time for step 3.
///
/// A recording leaves out the milestones, and of step 3 the challenge. Its control is its first
/// green candidate: the defaults, where these are green.
class Tuner {
 public:
  /// All references must outlive the tuner.
  Tuner(Harness& harness, RunStore& store, RunId run, const TunerOptions& options,
        TunerObserver& observer);

  [[nodiscard]] TunerEnd run(RunHistory history, const std::atomic<bool>& stop);

  [[nodiscard]] const Elite& elite() const { return contest_.elite(); }
  [[nodiscard]] const RunProgress& progress() const { return progress_; }

 private:
  struct Planned {
    Candidate candidate;
    std::string origin;
    std::string milestone = {};
  };
  /// A candidate in flight.
  struct Slot {
    int generation = 0;
    int position = 0;
    Planned planned;
    std::optional<StoredEvaluation> recorded = {};  ///< its outcome, in a run that is resumed
    Compilations::Ticket ticket = 0;                ///< otherwise
  };
  /// One that has been through the gates.
  struct Judged {
    Slot slot;
    std::optional<Judgement> judgement = {};  ///< nothing where it is recorded
  };
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
    std::optional<double> objective;  ///< where it is another one than the time
  };

  void plan_opening();
  [[nodiscard]] double seconds_to_compare() const;
  [[nodiscard]] std::optional<Planned> next_planned();
  [[nodiscard]] std::size_t size_of(int generation) const;
  [[nodiscard]] std::optional<StoredEvaluation> take_recorded(const Slot& slot);
  void fill_window();
  [[nodiscard]] TunerEnd search(const std::atomic<bool>& stop);
  [[nodiscard]] Judged judge(Slot slot);
  /// Records what was judged last, unless that is done.
  void settle();
  [[nodiscard]] Outcome record(const Slot& slot, Judgement judgement);
  void count(const Outcome& outcome);
  void observe(const Outcome& outcome);
  [[nodiscard]] std::optional<double> objective_of(const Outcome& outcome) const;
  [[nodiscard]] EliteMember member_of(const Outcome& outcome) const;
  [[nodiscard]] KernelUnderTest stored_kernel(const Green& green) const;
  void challenge();
  void choose_control();
  void close_generation();
  void close_unfinished_generation(const Stop& stop);
  void restore_generation(const GenerationRecord& generation);
  void record_generation(const std::optional<double>& control_us);
  [[nodiscard]] SteadyTime after(double seconds) const;

  Harness& harness_;
  RunStore& store_;
  RunId run_;
  TunerOptions options_;
  TunerObserver& observer_;
  Objective objective_;
  std::unique_ptr<Strategy> strategy_;
  Contest contest_;
  RunProgress progress_;
  SteadyTime started_;
  SteadyTime generation_started_;

  std::deque<Planned> opening_;      ///< still to come
  std::vector<Candidate> opened_;    ///< all of them
  std::deque<Slot> slots_;           ///< in flight, oldest first
  std::optional<Judged> unsettled_;  ///< judged, not recorded yet
  std::size_t started_slots_ = 0;
  int next_generation_ = 0;  ///< of the next slot
  std::size_t next_position_ = 0;
  bool exhausted_ = false;         ///< the strategy has no more
  int generation_ = 0;             ///< being judged
  std::vector<Outcome> outcomes_;  ///< of it

  std::map<std::pair<int, int>, StoredEvaluation> history_;  ///< generation, position
  std::deque<GenerationRecord> recorded_generations_;        ///< still to come
  std::map<std::string, Fate> first_of_kernel_;
  std::map<CandidateId, Green> green_;
};

}  // namespace evo
