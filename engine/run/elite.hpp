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

/// A kernel good enough to be kept, ready to be run again.
struct EliteMember {
  CandidateId id = 0;
  Candidate candidate;
  double p50_us = 0;
  KernelUnderTest kernel;
  bool screened = false;  ///< it has not passed all checks yet
  /// The value of the run's objective, where that is not the time.
  std::optional<double> objective = {};

  /// The value that members are ranked by; less is better.
  [[nodiscard]] double value() const { return objective.value_or(p50_us); }
};

/// The outcome of comparing a challenger with an incumbent in one process. A kernel that failed
/// there is out: it was not as green as it looked.
enum class ComparisonResult {
  kChallengerFaster,  ///< beyond doubt
  kTie,
  kIncumbentFaster,
  kChallengerOut,
  kIncumbentOut,
  kBothOut,
};

/// The verdict of a gate that only the elite goes through.
struct LastVerdict {
  std::optional<Rejection> rejection = {};  ///< nothing: it passed
};

/// A gate that only the elite goes through.
struct LastGate {
  Gate gate = Gate::kProfile;  ///< that its rejections name
  /// Judges a member. Nothing: it cannot tell, of this one and all others.
  std::function<std::optional<LastVerdict>(std::size_t rank, const EliteMember& member)> judge;
};

/// The best kernels of a run, best first.
class Elite {
 public:
  explicit Elite(std::size_t capacity) : capacity_(capacity) {}

  /// Puts a ranking back that was confirmed before. At most `capacity` members.
  void restore(std::vector<EliteMember> members) { members_ = std::move(members); }

  /// A member turned out not to be green.
  void remove(CandidateId id);

  [[nodiscard]] const std::vector<EliteMember>& members() const { return members_; }
  [[nodiscard]] std::size_t capacity() const { return capacity_; }
  [[nodiscard]] bool contains(CandidateId id) const;

  /// Whether a kernel of this value can get in.
  [[nodiscard]] bool has_a_chance(double value) const;

  /// The last member's time: a kernel that is surely slower has no chance. Infinite while there is
  /// room. Useful where the objective is the time.
  [[nodiscard]] double early_stop_us() const;

 private:
  friend class Climb;

  std::size_t capacity_;
  std::vector<EliteMember> members_;
};

/// The way of a challenger into the elite. It meets the best member that its stored time beats (or
/// the last one) first. From there it climbs over every member that it beats, or comes down until
/// it beats one: comparisons are assumed to be transitive. A tie leaves the incumbent where it is.
/// A comparison is needed only where the stored times leave a chance. A kernel that fails in a
/// comparison leaves, and the challenger goes on.
///
///   Climb climb(elite, challenger);
///   while (const EliteMember* incumbent = climb.next()) climb.take(compare(…, *incumbent));
///   if (climb.may_enter() && …) climb.enter();
class Climb {
 public:
  /// `elite` must outlive this, and does not change otherwise meanwhile.
  Climb(Elite& elite, EliteMember challenger);

  [[nodiscard]] const EliteMember& challenger() const { return challenger_; }
  /// The member to compare the challenger with next; null when its place is known.
  [[nodiscard]] const EliteMember* next();
  /// The result of that comparison.
  void take(ComparisonResult result);
  /// Once next() is null: whether there is a place for it.
  [[nodiscard]] bool may_enter() const { return !is_out_ && beaten_ < elite_.capacity_; }
  /// Puts it there; the last member leaves when there is no room.
  void enter();

 private:
  [[nodiscard]] std::size_t place_by_value() const;

  Elite& elite_;
  EliteMember challenger_;
  bool is_out_ = false;
  // Members below `unbeaten_` keep their places, those from `beaten_` on are behind the challenger.
  std::size_t unbeaten_ = 0;
  std::size_t beaten_ = 0;
  std::size_t next_ = 0;
};

}  // namespace evo
