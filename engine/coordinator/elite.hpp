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
  /// Of the run's objective, where that is another one than the time.
  std::optional<double> objective = {};

  /// What members are ranked by; less is better.
  [[nodiscard]] double value() const { return objective.value_or(p50_us); }
};

/// What came of comparing a challenger with an incumbent in one process. A kernel that failed there
/// is out: it was not as green as it looked.
enum class DuelResult {
  kChallengerFaster,  ///< beyond doubt
  kTie,
  kIncumbentFaster,
  kChallengerOut,
  kIncumbentOut,
  kBothOut,
};

/// What a gate that only the elite goes through says of a member.
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
  using Confirm =
      std::function<DuelResult(const EliteMember& challenger, const EliteMember& incumbent)>;
  using Admit = std::function<bool(const EliteMember& challenger)>;

  explicit Elite(std::size_t capacity) : capacity_(capacity) {}

  /// Takes the challenger in where it belongs. It meets the best member that its stored time beats
  /// (or the last one) first, from there climbs over every member it beats, or comes down until it
  /// beats one: whom it beats has beaten those below. A tie leaves the incumbent where it is. A
  /// comparison is made only where the times stored leave a chance. Who fails in one leaves, and
  /// the challenger goes on. Before it enters, `admit` has the last word. True when the elite
  /// changed.
  bool consider(
      EliteMember challenger, const Confirm& confirm,
      const Admit& admit = [](const EliteMember&) { return true; });

  /// Puts a ranking back that was confirmed before. At most `capacity` members.
  void restore(std::vector<EliteMember> members) { members_ = std::move(members); }

  /// A member turned out not to be green.
  void remove(CandidateId id);

  [[nodiscard]] const std::vector<EliteMember>& members() const { return members_; }
  [[nodiscard]] std::size_t capacity() const { return capacity_; }

  /// Whether a kernel of this value can get in.
  [[nodiscard]] bool has_a_chance(double value) const;

  /// The last member's time: what is surely slower has no chance. Infinite while there is room. Of
  /// use where the objective is the time.
  [[nodiscard]] double give_up_us() const;

 private:
  /// The first member that its stored time beats.
  [[nodiscard]] std::size_t place_by_value(const EliteMember& challenger) const;

  std::size_t capacity_;
  std::vector<EliteMember> members_;
};

}  // namespace evo
