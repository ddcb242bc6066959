#include "engine/run/elite.hpp"

#include <algorithm>
#include <limits>

namespace evo {

namespace {

/// The largest value (time or objective) with which another kernel may still be as good as
/// `member`, because values that are measured at different times are not exactly comparable.
double most_of(const EliteMember& member) {
  return member.value() * other_minute(member.objective ? 0 : member.p50_us);
}

}  // namespace

void Elite::remove(CandidateId id) {
  std::erase_if(members_, [&](const EliteMember& member) { return member.id == id; });
}

bool Elite::contains(CandidateId id) const {
  return std::ranges::find(members_, id, &EliteMember::id) != members_.end();
}

double Elite::early_stop_us() const {
  if (members_.size() < capacity_) return std::numeric_limits<double>::infinity();
  return members_.back().p50_us;
}

bool Elite::has_a_chance(double value) const {
  return members_.size() < capacity_ || value <= most_of(members_.back());
}

Climb::Climb(Elite& elite, EliteMember challenger)
    : elite_(elite),
      challenger_(std::move(challenger)),
      beaten_(elite.members_.size()),
      next_(place_by_value()) {}

/// The index of the first member whose stored value is not better than the challenger's.
std::size_t Climb::place_by_value() const {
  const auto slower = std::ranges::find_if(elite_.members_, [&](const EliteMember& member) {
    return member.value() >= challenger_.value();
  });
  return static_cast<std::size_t>(slower - elite_.members_.begin());
}

const EliteMember* Climb::next() {
  while (!is_out_ && unbeaten_ < beaten_) {
    next_ = std::clamp(next_, unbeaten_, beaten_ - 1);
    const EliteMember& incumbent = elite_.members_[next_];
    if (challenger_.value() <= most_of(incumbent)) return &incumbent;
    take(ComparisonResult::kIncumbentFaster);
  }
  return nullptr;
}

void Climb::take(ComparisonResult result) {
  if (result == ComparisonResult::kIncumbentOut || result == ComparisonResult::kBothOut) {
    elite_.members_.erase(elite_.members_.begin() + static_cast<std::ptrdiff_t>(next_));
    --beaten_;
  }
  is_out_ = result == ComparisonResult::kChallengerOut || result == ComparisonResult::kBothOut;
  if (result == ComparisonResult::kChallengerFaster) beaten_ = next_--;
  if (result == ComparisonResult::kTie || result == ComparisonResult::kIncumbentFaster) {
    unbeaten_ = ++next_;
  }
}

void Climb::enter() {
  elite_.members_.insert(elite_.members_.begin() + static_cast<std::ptrdiff_t>(beaten_),
                         std::move(challenger_));
  if (elite_.members_.size() > elite_.capacity_) elite_.members_.pop_back();
}

}  // namespace evo
