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

/// The tournament for the elite of a run: full checks and A/B comparisons, the last steps for a
/// candidate. If times are measured, A/B comparisons by interleaved pairs decide. A kernel that
/// fails in a comparison and again alone is withdrawn permanently. A kernel that passed the quick
/// check is withdrawn if it fails the full check, which precedes its entry into the elite. Every
/// decision is recorded, and decisions made before an interruption are not repeated.
///
/// If the objective is not the time, the values of the objective decide. Energies are measured for
/// kEliteEnergy_s seconds before a kernel enters, and a difference below kLeastDifference is a tie.
class Tournament {
 public:
  /// All references must outlive this object. Reads the run's records. `shape`: index of the shape
  /// in the task.
  Tournament(const TuningTask& task, RunStore& store, RunId run, std::size_t elite_size,
             std::size_t shape = 0, const std::string& objective = "time");

  [[nodiscard]] const Elite& elite() const { return elite_; }
  /// When and why a candidate was permanently removed.
  struct Withdrawn {
    int generation = 0;
    Rejection why;
  };
  [[nodiscard]] const std::map<CandidateId, Withdrawn>& withdrawn() const { return withdrawn_; }
  [[nodiscard]] bool was_withdrawn(CandidateId candidate) const {
    return withdrawn_.contains(candidate);
  }

  /// Lets the green kernels of a generation challenge the elite, the fastest first. Throws
  /// Interrupted if time is over or a stop is requested. After Interrupted, left_out() is the
  /// number of kernels not yet compared, and the next call skips the compared kernels.
  Task<> challenge(HomeDevice& home, int generation, std::vector<EliteMember> challengers);
  [[nodiscard]] std::size_t left_out() const { return left_out_; }

  /// Sets the control, which time_control() otherwise chooses.
  void use_control(EliteMember control) { control_ = std::move(control); }

  /// Times the control, which is the best kernel of the first generation with a green kernel. The
  /// drift of its time shows how steady the device is. Takes a few samples, or more if `closely`.
  /// Nullopt if times are predicted or there is no control.
  Task<std::optional<double>> time_control(HomeDevice& home, int generation, bool closely);
  /// The control, or null if there is none yet.
  [[nodiscard]] const EliteMember* control() const { return control_ ? &*control_ : nullptr; }
  /// The drift of the control: its time divided by its first time, minus 1.
  [[nodiscard]] double drift(double control_us) const { return control_us / control_first_us_ - 1; }

  /// Permanently removes a kernel that failed elsewhere. Does nothing if the kernel has already
  /// left. Do not call this function during challenge().
  void dismiss(int generation, CandidateId candidate, const Rejection& why);

  /// Restores the elite of a recorded generation and the control's time. Omits kernels that were
  /// withdrawn by the end of the generation.
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
  /// Measures the challenger's objective over kEliteEnergy_s. False if the kernel failed.
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
