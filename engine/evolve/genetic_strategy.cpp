#include <algorithm>

#include "engine/evolve/portable_math.hpp"
#include "engine/evolve/strategies.hpp"
#include "engine/space/neighbours.hpp"

namespace evo {
namespace {

constexpr std::size_t kBreeders = 20;
constexpr std::size_t kTournament = 3;
constexpr int kBreedAttempts = 20;  ///< attempts to breed each new offspring

/// 1. The population consists of the kBreeders fastest candidates so far that passed all gates.
/// 2. Select two different parents by tournaments.
/// 3. Apply uniform crossover; then mutate, with probability 1 / n, each of the n parameters that
///    have several values.
/// 4. Repair the offspring if it is invalid. Breed another, in at most kBreedAttempts attempts, if
/// the
///    offspring was proposed or observed before. Random candidates replace offspring before
///    kBreeders candidates are observed, and after the last attempt.
class GeneticStrategy final : public SearchBase {
 public:
  using SearchBase::SearchBase;

  std::vector<Candidate> propose(std::size_t count) override {
    std::vector<Candidate> proposals;
    for (std::size_t i = 0; observed_ >= kBreeders && i < count; ++i) {
      for (int attempt = 0; attempt < kBreedAttempts && population_.size() > 1; ++attempt) {
        if (take(offspring(), proposals)) break;
      }
    }
    fill(proposals, count);
    return proposals;
  }

 private:
  void learn(const Observation& observation) override {
    ++observed_;
    if (!observation.time_us) return;
    const Scored scored{observation.candidate, portable_log(*observation.time_us)};
    const auto place =
        std::upper_bound(population_.begin(), population_.end(), scored,
                         [](const Scored& a, const Scored& b) { return a.log_time < b.log_time; });
    population_.insert(place, scored);
    if (population_.size() > kBreeders) population_.pop_back();
  }

  /// Chooses an index into the population, which is sorted by time: the smallest of several random
  /// indices, and so the fastest of several random members.
  std::size_t tournament() {
    std::size_t winner = population_.size();
    for (std::size_t i = 0; i < kTournament; ++i) {
      winner = std::min(winner, static_cast<std::size_t>(random_.below(population_.size())));
    }
    return winner;
  }

  Candidate offspring() {
    const std::size_t first = tournament();
    std::size_t second = tournament();
    while (second == first) second = random_.below(population_.size());
    Candidate offspring = population_[first].candidate;
    for (const std::size_t p : active_) {
      if (random_.below(2) == 0) offspring.choice[p] = population_[second].candidate.choice[p];
    }
    for (const std::size_t p : active_) {
      if (random_.below(active_.size()) == 0)
        offspring.choice[p] = other_value(p, offspring.choice[p]);
    }
    return repair(space_, offspring, random_);
  }

  std::vector<Scored> population_;
  std::size_t observed_ = 0;
};

}  // namespace

std::unique_ptr<Strategy> make_genetic(const CandidateSpace& space,
                                       const StrategyOptions& options) {
  return std::make_unique<GeneticStrategy>(space, options);
}

}  // namespace evo
