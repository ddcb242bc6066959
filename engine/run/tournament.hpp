#pragma once

#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "db/run_store.hpp"
#include "engine/evaluate/home_device.hpp"
#include "engine/run/elite.hpp"
#include "engine/run/objective.hpp"

namespace evo {

/// The tournament for the elite of a run: full check and comparison, the last steps in the life of
/// a candidate. Where times are measured, A/B comparisons by interleaved pairs decide. A kernel
/// that fails in a pair and then alone is withdrawn: it leaves for good. So is a kernel that had
/// the quick check and fails the full one, which it meets before it enters. Every decision is
/// recorded; decisions from before an interruption are not made again.
///
/// Where the objective is not the time, its values decide: those of energy are of a long window,
/// measured before a kernel enters, and a difference below kLeastDifference is a tie.
class Tournament {
 public:
  /// All references must outlive this. Reads what the run recorded. `shape`: of the task.
  Tournament(const TuningTask& task, RunStore& store, RunId run, std::size_t elite_size,
             std::size_t shape = 0, const std::string& objective = "time");

  [[nodiscard]] const Elite& elite() const { return elite_; }
  /// A candidate that left for good: when, and why.
  struct Withdrawn {
    int generation = 0;
    Rejection why;
  };
  [[nodiscard]] const std::map<CandidateId, Withdrawn>& withdrawn() const { return withdrawn_; }
  [[nodiscard]] bool was_withdrawn(CandidateId candidate) const {
    return withdrawn_.contains(candidate);
  }

  /// The green kernels of a generation want to enter the elite; the fastest goes first. Throws
  /// Interrupted; left_out() then says how many were not compared, and the next call leaves those
  /// alone that were.
  Task<> challenge(HomeDevice& home, int generation, std::vector<EliteMember> challengers);
  [[nodiscard]] std::size_t left_out() const { return left_out_; }

  /// In place of the one that time_control() would choose.
  void use_control(EliteMember control) { control_ = std::move(control); }

  /// The control is the best kernel of the first generation that had one: its time, now. Its drift
  /// says how steady the device is. A few samples do, unless it is asked for `closely`. Nothing
  /// where times are predicted, and without a control.
  Task<std::optional<double>> time_control(HomeDevice& home, int generation, bool closely);
  /// Null while there is none.
  [[nodiscard]] const EliteMember* control() const { return control_ ? &*control_ : nullptr; }
  /// control_us / its first value − 1.
  [[nodiscard]] double drift(double control_us) const { return control_us / control_first_us_ - 1; }

  /// A kernel that failed elsewhere leaves for good. Nothing where it has. Not within challenge().
  void dismiss(int generation, CandidateId candidate, const Rejection& why);

  /// Puts the elite of a recorded generation back, without what was withdrawn by the end of it, and
  /// its control's time.
  void restore(int generation, std::vector<EliteMember> members,
               const std::optional<double>& control_us);

 private:
  using Compared = std::tuple<int, CandidateId, CandidateId>;

  Task<ComparisonResult> compare(HomeDevice& home, int generation, const EliteMember& challenger,
                                 const EliteMember& incumbent);
  Task<ComparisonResult> compare_times(HomeDevice& home, int generation,
                                       const EliteMember& challenger, const EliteMember& incumbent);
  [[nodiscard]] static ComparisonResult compare_values(const EliteMember& challenger,
                                                       const EliteMember& incumbent);
  Task<bool> passes_full_check(HomeDevice& home, int generation, const EliteMember& challenger);
  /// Its objective by a long window. False when it failed.
  Task<bool> measure_closely(HomeDevice& home, int generation, EliteMember& challenger);
  void withdraw(int generation, CandidateId candidate, const Rejection& why);
  void choose_control();

  const TuningTask& task_;
  RunStore& store_;
  RunId run_;
  std::size_t shape_;
  Elite elite_;
  Objective objective_;
  std::map<Compared, Verdict> compared_;  ///< generation, challenger, incumbent
  std::set<CandidateId> settled_;         ///< of challengers that an interruption left
  std::map<CandidateId, Withdrawn> withdrawn_;
  std::optional<EliteMember> control_;
  double control_first_us_ = 0;
  std::size_t left_out_ = 0;
};

}  // namespace evo
