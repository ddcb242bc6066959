#include "engine/evolve/proposal_pool.hpp"

#include <algorithm>
#include <utility>

#include "engine/space/neighbours.hpp"

namespace evo {

void ProposalPool::add(const Candidate& candidate) {
  if (seen_->contains(candidate) || members_.contains(candidate)) return;
  if (!space_->is_valid(candidate)) return;
  members_.insert(candidate);
  candidates_.push_back(candidate);
}

void ProposalPool::add(std::span<const Candidate> candidates) {
  for (const Candidate& candidate : candidates) add(candidate);
}

void ProposalPool::add_neighbours(const Candidate& candidate, std::size_t most, Random& random) {
  const std::vector<Candidate> near = neighbours(*space_, candidate, Neighbourhood::kAnyValue);
  if (near.size() <= most) {
    for (const Candidate& neighbour : near) add(neighbour);
    return;
  }
  const std::vector<std::size_t> order = random_order(near.size(), random);
  for (std::size_t i = 0; i < most; ++i) add(near[order[i]]);
}

Candidate ProposalPool::mutated(Candidate candidate, std::size_t changes, Random& random) const {
  const std::vector<std::size_t>& active = encoding_->active();
  for (; changes > 0; --changes) {
    const std::size_t p = active[random.below(active.size())];
    const std::uint64_t value = random.below(space_->value_count(p) - 1);
    candidate.choice[p] =
        static_cast<std::uint16_t>(value >= candidate.choice[p] ? value + 1 : value);
  }
  return candidate;
}

Candidate ProposalPool::crossed(std::span<const Candidate> parents, Random& random) const {
  const std::size_t first = random.below(parents.size());
  const std::size_t skipped = random.below(parents.size() - 1);
  const std::size_t second = skipped >= first ? skipped + 1 : skipped;
  Candidate offspring = parents[first];
  for (const std::size_t p : encoding_->active()) {
    if (random.below(2) == 0) offspring.choice[p] = parents[second].choice[p];
  }
  return random.below(2) == 0 ? offspring : mutated(std::move(offspring), 1, random);
}

void ProposalPool::breed(std::span<const Candidate> parents, const PoolSettings& settings,
                         Random& random) {
  for (const Candidate& parent : parents) add_neighbours(parent, settings.neighbours, random);
  for (std::size_t i = 0; i < settings.mutants; ++i) {
    const Candidate& parent = parents[random.below(parents.size())];
    add(mutated(parent, random.below(3) == 0 ? 3 : 2, random));
  }
  for (std::size_t i = 0; i < settings.crossovers && parents.size() > 1; ++i) {
    add(crossed(parents, random));
  }
  for (std::size_t i = 0; i < settings.randoms; ++i) {
    if (const auto candidate = seen_->random_unseen(random)) add(*candidate);
  }
}

void ProposalPool::climb(std::span<const std::size_t> order, const PoolSettings& settings,
                         Random& random) {
  const std::vector<Candidate> before = std::exchange(candidates_, {});
  members_.clear();
  for (std::size_t i = 0; i < std::min(settings.kept, order.size()); ++i) add(before[order[i]]);
  for (std::size_t i = 0; i < std::min(settings.climbers, order.size()); ++i) {
    add_neighbours(before[order[i]], settings.neighbours, random);
  }
}

std::vector<std::uint16_t> ProposalPool::encoded() const {
  std::vector<std::uint16_t> points;
  points.reserve(candidates_.size() * encoding_->size());
  for (const Candidate& candidate : candidates_) encoding_->append(candidate, points);
  return points;
}

}  // namespace evo
