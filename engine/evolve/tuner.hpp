#pragma once

#include <atomic>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "engine/evolve/elite.hpp"
#include "engine/evolve/strategy.hpp"
#include "engine/gate/harness.hpp"

namespace evo {

struct TunerOptions {
  int generations = 20;
  std::size_t children = 8;
  std::size_t elite = 3;
  std::string strategy = "full";
  std::uint64_t seed = 1;
  double max_seconds = std::numeric_limits<double>::infinity();
};

/// Where a run stands.
struct RunProgress {
  int generation = 0;
  int generations = 0;
  std::size_t evaluated = 0;
  std::size_t green = 0;
  std::size_t duplicates = 0;
  std::size_t unjudged = 0;
  std::map<Gate, std::size_t> rejected;
  double best_us = 0;  ///< 0: none yet
  double elapsed_s = 0;
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

/// The generation loop.
///
///   1. generation 0: the defaults, the milestones, and the strategy's first proposals;
///      later ones: the strategy's proposals;
///   2. every candidate through the gates, each recorded in one transaction, in order;
///   3. the strategy observes all outcomes;
///   4. green kernels challenge the elite: interleaved pairs decide where times are measured; a
///   kernel that fails in a pair and then alone is withdrawn: it leaves the elite for good;
///   5. the control (the best kernel of the first generation) is timed again: its drift says how
///   steady the device is;
///   6. the generation is recorded, with the elite.
/// A run that is resumed goes through the same steps with recorded outcomes in place of 2 and of
/// the pairs of 4, so that it continues as if it had never stopped.
class Tuner {
 public:
  /// All references must outlive the tuner.
  Tuner(Harness& harness, Store& store, RunId run, const TunerOptions& options,
        TunerObserver& observer);

  /// `history`: what the run recorded before, empty for a new one.
  [[nodiscard]] TunerEnd run(const std::vector<StoredEvaluation>& history,
                             const std::vector<StoredGeneration>& generations,
                             const std::atomic<bool>& stop);

  [[nodiscard]] const Elite& elite() const { return elite_; }
  [[nodiscard]] const RunProgress& progress() const { return progress_; }

 private:
  struct Planned {
    Candidate candidate;
    std::string origin;
    std::string milestone = {};
  };
  /// A finished evaluation, new or from the history.
  struct Outcome {
    CandidateId id = 0;
    Candidate candidate;
    EvaluationRecord record;
  };

  [[nodiscard]] std::vector<Planned> plan(int generation);
  [[nodiscard]] std::vector<Outcome> evaluate(int generation, const std::vector<Planned>& planned,
                                              const std::atomic<bool>& stop);
  [[nodiscard]] const StoredEvaluation* recorded(int generation, std::size_t position,
                                                 const Planned& planned) const;
  [[nodiscard]] Outcome record(int generation, std::size_t position, const Planned& planned,
                               const Judgement& judgement);
  [[nodiscard]] static Outcome without_texts(const Outcome& outcome);
  void count(const Outcome& outcome);
  void observe(const std::vector<Outcome>& outcomes);
  void challenge(int generation, const std::vector<Outcome>& outcomes);
  [[nodiscard]] DuelResult confirm(int generation, const EliteMember& challenger,
                                   const EliteMember& incumbent);
  void withdraw(int generation, CandidateId candidate, const Rejection& why);
  [[nodiscard]] EliteMember member_of(const Outcome& outcome) const;
  void restore_elite(const GenerationRecord& generation);
  void finish_generation(int generation, double wall_ms);
  [[nodiscard]] std::optional<double> time_control(int generation);

  Harness& harness_;
  Store& store_;
  RunId run_;
  TunerOptions options_;
  TunerObserver& observer_;
  std::unique_ptr<Strategy> strategy_;
  Elite elite_;
  RunProgress progress_;
  std::map<std::pair<int, int>, const StoredEvaluation*> history_;
  /// Comparisons recorded before the run was interrupted: generation, challenger, incumbent.
  std::map<std::tuple<int, CandidateId, CandidateId>, Verdict> compared_;
  std::map<std::string, Outcome> first_of_kernel_;
  std::map<CandidateId, Outcome> green_;
  std::map<CandidateId, int> withdrawn_;  ///< and in which generation
  std::optional<EliteMember> control_;
  double control_first_us_ = 0;
};

}  // namespace evo
