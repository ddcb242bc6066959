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

/// The tournament for the elite of a run: full check and A/B comparison, the last steps for a
/// candidate. If times are measured, A/B comparisons by interleaved pairs decide. A kernel that
/// fails in a pair and again alone is withdrawn permanently. So is a kernel that passed the quick
/// check and fails the full check, which precedes its entry. Every decision is recorded, and
/// decisions made before an interruption are not repeated.
///
/// If the objective is not the time, its values decide. Energies are measured over a long window
/// before a kernel enters, and a difference below kLeastDifference is a tie.
class Tournament {
 public:
  /// All references must outlive this object. Reads the run's records. `shape`: index in the task.
  Tournament(const TuningTask& task, RunStore& store, RunId run, std::size_t elite_size,
             std::size_t shape = 0, const std::string& objective = "time");

  [[nodiscard]] const Elite& elite() const { return elite_; }
  /// A permanently removed candidate: when and why.
  struct Withdrawn {
    int generation = 0;
    Rejection why;
  };
  [[nodiscard]] const std::map<CandidateId, Withdrawn>& withdrawn() const { return withdrawn_; }
  [[nodiscard]] bool was_withdrawn(CandidateId candidate) const {
    return withdrawn_.contains(candidate);
  }

  /// The green kernels of a generation challenge the elite, the fastest first. Throws Interrupted;
  /// then left_out() tells how many were not compared, and the next call skips those that were.
  Task<> challenge(HomeDevice& home, int generation, std::vector<EliteMember> challengers);
  [[nodiscard]] std::size_t left_out() const { return left_out_; }

  /// Replaces the control that time_control() would choose.
  void use_control(EliteMember control) { control_ = std::move(control); }

  /// Times the control, the best kernel of the first generation with a green one. Its drift shows
  /// how steady the device is. Takes a few samples, or more if `closely`. Nullopt if times are
  /// predicted or there is no control.
  Task<std::optional<double>> time_control(HomeDevice& home, int generation, bool closely);
  /// Null if there is none yet.
  [[nodiscard]] const EliteMember* control() const { return control_ ? &*control_ : nullptr; }
  /// control_us / its first value − 1.
  [[nodiscard]] double drift(double control_us) const { return control_us / control_first_us_ - 1; }

  /// Permanently removes a kernel that failed elsewhere; does nothing if it has left already. Do
  /// not call it during challenge().
  void dismiss(int generation, CandidateId candidate, const Rejection& why);

  /// Restores the elite of a recorded generation, without kernels withdrawn by its end, and its
  /// control's time.
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
  /// Measures its objective over a long window. False if it failed.
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
  std::set<CandidateId> settled_;         ///< challengers that an interruption skipped
  std::map<CandidateId, Withdrawn> withdrawn_;
  std::optional<EliteMember> control_;
  double control_first_us_ = 0;
  std::size_t left_out_ = 0;
};

}  // namespace evo
