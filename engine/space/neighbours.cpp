#include "engine/space/neighbours.hpp"

#include <numeric>
#include <optional>
#include <utility>

namespace evo {
namespace {

constexpr int kRepairWalks = 8;

/// Changes the index of the value of `parameter` by `step` until the candidate is valid; nullopt if
/// no value in this direction makes it valid.
std::optional<Candidate> next_valid(const CandidateSpace& space, const Candidate& candidate,
                                    std::size_t parameter, int step) {
  Candidate other = candidate;
  const auto count = static_cast<int>(space.value_count(parameter));
  for (int value = candidate.choice[parameter] + step; value >= 0 && value < count; value += step) {
    other.choice[parameter] = static_cast<std::uint16_t>(value);
    if (space.is_valid(other)) return other;
  }
  return std::nullopt;
}

}  // namespace

std::vector<Candidate> neighbours(const CandidateSpace& space, const Candidate& candidate,
                                  Neighbourhood neighbourhood) {
  std::vector<Candidate> found;
  for (std::size_t p = 0; p < space.parameter_count(); ++p) {
    if (neighbourhood == Neighbourhood::kNextValue && space.is_ordered(p)) {
      for (const int step : {-1, +1}) {
        if (auto next = next_valid(space, candidate, p, step)) found.push_back(std::move(*next));
      }
      continue;
    }
    Candidate other = candidate;
    for (std::size_t value = 0; value < space.value_count(p); ++value) {
      if (value == candidate.choice[p]) continue;
      other.choice[p] = static_cast<std::uint16_t>(value);
      if (space.is_valid(other)) found.push_back(other);
    }
  }
  return found;
}

std::size_t hamming_distance(const Candidate& a, const Candidate& b) {
  std::size_t distance = 0;
  for (std::size_t p = 0; p < a.choice.size(); ++p) distance += a.choice[p] != b.choice[p] ? 1 : 0;
  return distance;
}

std::vector<std::size_t> random_order(std::size_t n, Random& random) {
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = n; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  return order;
}

Candidate repair(const CandidateSpace& space, const Candidate& wish, Random& random) {
  if (space.is_valid(wish)) return wish;
  const std::vector<Candidate> close = neighbours(space, wish, Neighbourhood::kAnyValue);
  if (!close.empty()) return close[random.below(close.size())];
  Candidate best;
  std::size_t best_distance = wish.choice.size() + 1;
  for (int walk = 0; walk < kRepairWalks; ++walk) {
    Candidate candidate = space.sample(random);
    for (const std::size_t p : random_order(wish.choice.size(), random)) {
      const std::uint16_t own = std::exchange(candidate.choice[p], wish.choice[p]);
      if (!space.is_valid(candidate)) candidate.choice[p] = own;
    }
    const std::size_t distance = hamming_distance(candidate, wish);
    if (distance < best_distance) {
      best_distance = distance;
      best = std::move(candidate);
    }
  }
  return best;
}

}  // namespace evo
