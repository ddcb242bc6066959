#include "engine/evolve/seen_set.hpp"

namespace evo {
namespace {

/// Number of random draws of a rank to find an unseen candidate; afterwards, the candidates are
/// searched in order. If 10 % of the ranks are valid unseen candidates, all draws miss them with
/// probability 10^-4.
constexpr int kDraws = 88;

}  // namespace

std::optional<Candidate> SeenSet::random_unseen(Random& random) {
  for (int draw = 0; draw < kDraws; ++draw) {
    std::optional<Candidate> candidate = space_->at_rank(random.below(space_->rank_count()));
    if (candidate && !seen_.contains(*candidate)) return candidate;
  }
  return next_unseen();
}

std::optional<Candidate> SeenSet::next_unseen() {
  for (; cursor_ < space_->rank_count(); ++cursor_) {
    std::optional<Candidate> candidate = space_->at_rank(cursor_);
    if (candidate && !seen_.contains(*candidate)) return candidate;
  }
  return std::nullopt;
}

}  // namespace evo
