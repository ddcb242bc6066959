#include "engine/evolve/strategies.hpp"

namespace evo {

void SearchBase::observe(std::span<const Observation> observations) {
  for (const Observation& observation : observations) {
    seen_.add(observation.candidate);
    learn(observation);
  }
}

bool SearchBase::take(const Candidate& candidate, std::vector<Candidate>& proposals) {
  if (seen_.contains(candidate) || !space_.is_valid(candidate)) return false;
  seen_.add(candidate);
  proposals.push_back(candidate);
  return true;
}

void SearchBase::fill(std::vector<Candidate>& proposals, std::size_t count) {
  while (proposals.size() < count) {
    const std::optional<Candidate> candidate = seen_.random_unseen(random_);
    if (!candidate) return;
    take(*candidate, proposals);
  }
}

std::uint16_t SearchBase::other_value(std::size_t parameter, std::uint16_t value) {
  const std::size_t count = space_.value_count(parameter);
  if (space_.is_ordered(parameter) && random_.below(2) == 0) {
    const bool up = value == 0 || (value + 1U < count && random_.below(2) == 0);
    return static_cast<std::uint16_t>(up ? value + 1 : value - 1);
  }
  const std::uint64_t other = random_.below(count - 1);
  return static_cast<std::uint16_t>(other >= value ? other + 1 : other);
}

}  // namespace evo
