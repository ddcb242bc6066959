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
  std::size_t slot = members_.size();
  while (slot > 0) {
    const EliteMember& incumbent = members_[slot - 1];
    if (challenger.value() > incumbent.value() * kDriftAllowance) break;
    const DuelResult result = confirm(challenger, incumbent);
    if (result == DuelResult::kIncumbentOut || result == DuelResult::kBothOut) {
      members_.erase(members_.begin() + static_cast<std::ptrdiff_t>(slot - 1));
    }
    if (result == DuelResult::kChallengerOut || result == DuelResult::kBothOut) {
      return members_.size() != before;
    }
    if (result == DuelResult::kTie || result == DuelResult::kIncumbentFaster) break;
    --slot;
  }
  if (slot == capacity_) return false;
  if (!admit(challenger)) return members_.size() != before;
  members_.insert(members_.begin() + static_cast<std::ptrdiff_t>(slot), std::move(challenger));
  if (members_.size() > capacity_) members_.pop_back();
  return true;
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
