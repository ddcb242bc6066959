#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "db/records.hpp"
#include "engine/core/candidate.hpp"
#include "engine/core/rejection.hpp"
#include "engine/worker/session.hpp"

namespace evo {

/// A kernel of the elite, or a kernel that may enter the elite, ready to run again.
struct EliteMember {
  CandidateId id = 0;
  Candidate candidate;
  double p50_us = 0;
  KernelUnderTest kernel;
  bool only_quick_check = false;  ///< passed the quick check, but not the full check
  /// The value of the run's objective; nullopt if the objective is the time.
  std::optional<double> objective = {};

  /// The value by which members are ranked: the objective or the time. Smaller is better.
  [[nodiscard]] double value() const { return objective.value_or(p50_us); }
};

/// The result of comparing a challenger with an incumbent, a member of the elite. A kernel that
/// fails during the comparison is "out": it is not green, and leaves the elite or does not enter
/// it.
enum class ComparisonResult {
  kChallengerFaster,  ///< statistically certain
  kTie,
  kIncumbentFaster,
  kChallengerOut,
  kIncumbentOut,
  kBothOut,
};

/// The verdict of a LastGate on a member of the elite.
struct LastVerdict {
  std::optional<Rejection> rejection = {};  ///< nullopt: the member passed
};

/// A gate that only members of the elite must pass, at the end of a run.
struct LastGate {
  Gate gate = Gate::kProfile;  ///< name of the gate in its rejections
  /// Judges a member. Returns nullopt if the gate cannot judge any member, for example because a
  /// tool is missing.
  std::function<std::optional<LastVerdict>(std::size_t rank, const EliteMember& member)> judge;
};

/// The best kernels of a run, best first.
class Elite {
 public:
  explicit Elite(std::size_t capacity) : capacity_(capacity) {}

  /// Replaces the members by a recorded ranking of at most `capacity` members.
  void restore(std::vector<EliteMember> members) { members_ = std::move(members); }

  /// Removes the member `id`, if there is one, because it is not green any more.
  void remove(CandidateId id);

  [[nodiscard]] const std::vector<EliteMember>& members() const { return members_; }
  [[nodiscard]] std::size_t capacity() const { return capacity_; }
  [[nodiscard]] bool contains(CandidateId id) const;

  /// True if a kernel with this value may enter the elite: the elite has fewer members than
  /// `capacity`, or the value is not certainly worse than the last member's.
  [[nodiscard]] bool has_a_chance(double value) const;

  /// The last member's time, because a kernel that is certainly slower cannot enter the elite;
  /// infinite while the elite has fewer members than `capacity`. early_stop_us() is meaningful only
  /// if the objective is the time.
  [[nodiscard]] double early_stop_us() const;

 private:
  friend class Climb;

  std::size_t capacity_;
  std::vector<EliteMember> members_;
};

/// Finds the rank of a challenger in the elite. The challenger is first compared with the best
/// member whose stored value (time or objective) is not better, or else with the last member. From
/// this rank, the challenger moves up past each member that it beats, or down until it beats a
/// member. Comparisons are assumed to be transitive. After a tie, the incumbent ranks before the
/// challenger. A comparison is left out if the stored values show that the challenger is certainly
/// worse. A member that fails in a comparison leaves the elite, and the challenger is compared with
/// the next member.
///
///   Climb climb(elite, challenger);
///   while (const EliteMember* incumbent = climb.next()) climb.take(compare(…, *incumbent));
///   if (climb.may_enter() && …) climb.enter();
class Climb {
 public:
  /// `elite` must outlive this object. Nothing else may change `elite` while this object exists.
  Climb(Elite& elite, EliteMember challenger);

  [[nodiscard]] const EliteMember& challenger() const { return challenger_; }
  /// The member to compare with the challenger next; null when the challenger's rank is known or
  /// the challenger has failed.
  [[nodiscard]] const EliteMember* next();
  /// Records the result of the comparison with the member that next() returned.
  void take(ComparisonResult result);
  /// True if the challenger has not failed and its rank is within the capacity of the elite. Call
  /// may_enter() after next() has returned null.
  [[nodiscard]] bool may_enter() const { return !is_out_ && beaten_ < elite_.capacity_; }
  /// Inserts the challenger, and removes the last member if the elite exceeds its capacity.
  void enter();

 private:
  [[nodiscard]] std::size_t place_by_value() const;

  Elite& elite_;
  EliteMember challenger_;
  bool is_out_ = false;
  // Indices into the members: members before `unbeaten_` are ranked before the challenger, and
  // members from `beaten_` on are ranked after it.
  std::size_t unbeaten_ = 0;
  std::size_t beaten_ = 0;
  std::size_t next_ = 0;
};

}  // namespace evo
