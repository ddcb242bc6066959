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

/// Decides which green kernels enter the elite of a run, by A/B comparisons and full checks. If
/// times are predicted, the times decide instead of A/B comparisons. A kernel that fails in a
/// comparison and again when it runs alone is withdrawn. A kernel that passed only the quick check
/// needs a full check before it enters the elite; if the kernel fails the full check, it is
/// withdrawn. The verdicts of A/B comparisons and all withdrawals are stored, so a resumed run does
/// not repeat the comparisons.
///
/// If the objective is not the time, the values of the objective decide instead of A/B comparisons;
/// a difference of at most 2 % is a tie. If the objective depends on the energy, the energy of each
/// challenger is first measured for kEliteEnergy_s seconds.
class Tournament {
 public:
  /// Reads the stored comparisons and withdrawals of the run. All references must outlive this
  /// object. `shape`: index of the shape in the task.
  Tournament(const TuningTask& task, RunStore& store, RunId run, std::size_t elite_size,
             std::size_t shape = 0, const std::string& objective = "time");

  [[nodiscard]] const Elite& elite() const { return elite_; }
  /// The generation in which a candidate was withdrawn, and the reason.
  struct Withdrawn {
    int generation = 0;
    Rejection why;
  };
  [[nodiscard]] const std::map<CandidateId, Withdrawn>& withdrawn() const { return withdrawn_; }
  [[nodiscard]] bool was_withdrawn(CandidateId candidate) const {
    return withdrawn_.contains(candidate);
  }

  /// Lets the green kernels of a generation challenge the elite, the fastest first. Throws
  /// Interrupted if the time is over or a stop is requested. left_out() is then the number of
  /// kernels that were not compared, and the next call of challenge() skips the compared kernels.
  Task<> challenge(HomeDevice& home, int generation, std::vector<EliteMember> challengers);
  [[nodiscard]] std::size_t left_out() const { return left_out_; }

  /// Sets the control. If use_control() is not called, time_control() chooses the control.
  void use_control(EliteMember control) { control_ = std::move(control); }

  /// Times the control and returns its p50 in microseconds. By default, the control is the best
  /// kernel of the first generation with a green kernel. Takes a few samples, or more if `closely`.
  /// Returns nullopt if times are predicted, there is no control, or the control fails.
  Task<std::optional<double>> time_control(HomeDevice& home, int generation, bool closely);
  /// The control, or null if there is none yet.
  [[nodiscard]] const EliteMember* control() const { return control_ ? &*control_ : nullptr; }
  /// The drift of the control: its time divided by its first time, minus 1.
  [[nodiscard]] double drift(double control_us) const { return control_us / control_first_us_ - 1; }

  /// Withdraws a kernel that failed outside the tournament. Does nothing if the kernel is withdrawn
  /// already. Do not call dismiss() during challenge().
  void dismiss(int generation, CandidateId candidate, const Rejection& why);

  /// Restores the elite of a stored generation and the control's time, but omits kernels that were
  /// withdrawn in this or an earlier generation.
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
  /// Measures the challenger's energy for kEliteEnergy_s seconds if the objective depends on it,
  /// and sets its value of the objective. Returns false if the kernel failed or the energy is
  /// unknown.
  Task<bool> measure_closely(HomeDevice& home, int generation, EliteMember& challenger);
  void withdraw(int generation, CandidateId candidate, const Rejection& why);
  void choose_control();

  const TuningTask& task_;
  RunStore& store_;
  RunId run_;
  std::size_t shape_;
  Elite elite_;
  Objective objective_;
  std::map<Compared, Verdict> compared_;  ///< key: generation, challenger, incumbent
  std::set<CandidateId> settled_;         ///< challengers compared before an interruption
  std::map<CandidateId, Withdrawn> withdrawn_;
  std::optional<EliteMember> control_;
  double control_first_us_ = 0;
  std::size_t left_out_ = 0;
};

}  // namespace evo
