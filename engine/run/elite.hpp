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

/// A kernel of the elite, ready to run again.
struct EliteMember {
  CandidateId id = 0;
  Candidate candidate;
  double p50_us = 0;
  KernelUnderTest kernel;
  bool screened = false;  ///< passed the quick check, but not the full check
  /// The value of the run's objective, unless the objective is the time.
  std::optional<double> objective = {};

  /// The value by which members are ranked; smaller is better.
  [[nodiscard]] double value() const { return objective.value_or(p50_us); }
};

/// The result of comparing a challenger with an incumbent in one process. A kernel that fails in
/// the comparison leaves, because it is not green.
enum class ComparisonResult {
  kChallengerFaster,  ///< statistically certain
  kTie,
  kIncumbentFaster,
  kChallengerOut,
  kIncumbentOut,
  kBothOut,
};

/// The verdict of a gate that applies only to the elite.
struct LastVerdict {
  std::optional<Rejection> rejection = {};  ///< nullopt: the member passed
};

/// A gate that applies only to the elite.
struct LastGate {
  Gate gate = Gate::kProfile;  ///< name of the gate in its rejections
  /// Judges a member. Nullopt if the gate can judge no member, for example for lack of a tool.
  std::function<std::optional<LastVerdict>(std::size_t rank, const EliteMember& member)> judge;
};

/// The best kernels of a run, best first.
class Elite {
 public:
  explicit Elite(std::size_t capacity) : capacity_(capacity) {}

  /// Restores a ranking of at most `capacity` members that an earlier process confirmed.
  void restore(std::vector<EliteMember> members) { members_ = std::move(members); }

  /// Removes a member that turned out not to be green.
  void remove(CandidateId id);

  [[nodiscard]] const std::vector<EliteMember>& members() const { return members_; }
  [[nodiscard]] std::size_t capacity() const { return capacity_; }
  [[nodiscard]] bool contains(CandidateId id) const;

  /// Whether a kernel with this value may enter the elite.
  [[nodiscard]] bool has_a_chance(double value) const;

  /// The last member's time; a kernel that is certainly slower cannot enter the elite. Infinite
  /// while the elite has room. Meaningful only if the objective is the time.
  [[nodiscard]] double early_stop_us() const;

 private:
  friend class Climb;

  std::size_t capacity_;
  std::vector<EliteMember> members_;
};

/// Finds a challenger's rank in the elite. The challenger first meets the best member that is
/// slower by stored times, or else the last member. From this rank, the challenger moves up past
/// every member that it beats, or down until it beats a member. Comparisons are assumed to be
/// transitive. A tie leaves the incumbent ahead. A comparison is made only if the stored times
/// leave the challenger a chance. A kernel that fails in a comparison leaves the elite, and the
/// challenger continues.
///
///   Climb climb(elite, challenger);
///   while (const EliteMember* incumbent = climb.next()) climb.take(compare(…, *incumbent));
///   if (climb.may_enter() && …) climb.enter();
class Climb {
 public:
  /// `elite` must outlive this object, and only this object may change it meanwhile.
  Climb(Elite& elite, EliteMember challenger);

  [[nodiscard]] const EliteMember& challenger() const { return challenger_; }
  /// The member to compare with the challenger next; null when the challenger's place is known.
  [[nodiscard]] const EliteMember* next();
  /// Records the result of the comparison with the member that next() returned.
  void take(ComparisonResult result);
  /// Whether the challenger has a place; call it after next() returned null.
  [[nodiscard]] bool may_enter() const { return !is_out_ && beaten_ < elite_.capacity_; }
  /// Inserts the challenger. The last member leaves if there is no room.
  void enter();

 private:
  [[nodiscard]] std::size_t place_by_value() const;

  Elite& elite_;
  EliteMember challenger_;
  bool is_out_ = false;
  // Members before `unbeaten_` keep their places. Members from `beaten_` on are ranked after the
  // challenger.
  std::size_t unbeaten_ = 0;
  std::size_t beaten_ = 0;
  std::size_t next_ = 0;
};

}  // namespace evo
