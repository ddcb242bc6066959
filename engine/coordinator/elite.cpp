#include "engine/coordinator/elite.hpp"

#include <algorithm>
#include <limits>

namespace evo {
namespace {

/// Times of different minutes are compared with this tolerance before a confirmation is spent.
constexpr double kDriftAllowance = 1.02;

}  // namespace

bool Elite::consider(EliteMember challenger, const Confirm& confirm, const Admit& admit) {
  const std::size_t before = members_.size();
  // Members below `unbeaten` keep their places, those from `beaten` on are behind the challenger.
  std::size_t unbeaten = 0;
  std::size_t beaten = members_.size();
  std::size_t next = place_by_value(challenger);
  while (unbeaten < beaten) {
    next = std::clamp(next, unbeaten, beaten - 1);
    const EliteMember& incumbent = members_[next];
    const bool has_no_chance = challenger.value() > incumbent.value() * kDriftAllowance;
    const DuelResult result =
        has_no_chance ? DuelResult::kIncumbentFaster : confirm(challenger, incumbent);
    if (result == DuelResult::kIncumbentOut || result == DuelResult::kBothOut) {
      members_.erase(members_.begin() + static_cast<std::ptrdiff_t>(next));
      --beaten;
    }
    if (result == DuelResult::kChallengerOut || result == DuelResult::kBothOut) {
      return members_.size() != before;
    }
    if (result == DuelResult::kChallengerFaster) beaten = next--;
    if (result == DuelResult::kTie || result == DuelResult::kIncumbentFaster) unbeaten = ++next;
  }
  if (beaten == capacity_) return false;
  if (!admit(challenger)) return members_.size() != before;
  members_.insert(members_.begin() + static_cast<std::ptrdiff_t>(beaten), std::move(challenger));
  if (members_.size() > capacity_) members_.pop_back();
  return true;
}

std::size_t Elite::place_by_value(const EliteMember& challenger) const {
  const auto slower = std::ranges::find_if(
      members_, [&](const EliteMember& member) { return member.value() >= challenger.value(); });
  return static_cast<std::size_t>(slower - members_.begin());
}

void Elite::remove(CandidateId id) {
  std::erase_if(members_, [&](const EliteMember& member) { return member.id == id; });
}

double Elite::give_up_us() const {
  if (members_.size() < capacity_) return std::numeric_limits<double>::infinity();
  return members_.back().p50_us;
}

bool Elite::has_a_chance(double value) const {
  return members_.size() < capacity_ || value <= members_.back().value() * kDriftAllowance;
}

}  // namespace evo
