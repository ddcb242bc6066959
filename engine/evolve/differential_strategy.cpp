#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "engine/evolve/portable_math.hpp"
#include "engine/evolve/strategies.hpp"
#include "engine/space/neighbours.hpp"

namespace evo {
namespace {

constexpr std::size_t kPopulation = 16;
constexpr double kWeight = 0.7;     ///< F in Storn and Price
constexpr double kCrossover = 0.7;  ///< CR in Storn and Price
constexpr int kAttempts = 10;

/// 1. The first kPopulation candidates that have a time form the population.
/// 2. For each member x in turn, make a mutant: x + F (best − x) + F (a − b), where `best` is the
///    fastest member, and a and b are random members. The formula applies to the indices of the
///    values; a random number from −0.5 to 0.5 is added, and the sum is rounded and clamped. For a
///    parameter without order, choose the value of x, best or a at random.
/// 3. Cross the mutant with x (binomial crossover), and repair the offspring if it is invalid.
/// Repeat
///    steps 2 and 3, at most kAttempts times, until the offspring is valid and was not proposed
///    before. If there is no such offspring, random candidates fill the rest of the generation.
/// 4. An offspring that is faster than x replaces x. A random candidate that is faster than the
/// slowest
///    member replaces this member.
class DifferentialStrategy final : public SearchBase {
 public:
  using SearchBase::SearchBase;

  std::vector<Candidate> propose(std::size_t count) override {
    std::vector<Candidate> proposals;
    while (population_.size() == kPopulation && proposals.size() < count) {
      bool found = false;
      for (int attempt = 0; attempt < kAttempts && !found; ++attempt) {
        found = take(offspring(turn_), proposals);
      }
      if (!found) break;
      target_of_[proposals.back()] = turn_;
      turn_ = (turn_ + 1) % kPopulation;
    }
    fill(proposals, count);
    return proposals;
  }

 private:
  void learn(const Observation& observation) override {
    const auto target = target_of_.find(observation.candidate);
    if (observation.time_us) {
      const Scored scored{observation.candidate, portable_log(*observation.time_us)};
      if (target != target_of_.end()) {
        if (scored.log_time < population_[target->second].log_time) {
          population_[target->second] = scored;
        }
      } else if (population_.size() < kPopulation) {
        population_.push_back(scored);
      } else {
        replace_worst(scored);
      }
    }
    if (target != target_of_.end()) target_of_.erase(target);
  }

  static bool is_faster(const Scored& a, const Scored& b) { return a.log_time < b.log_time; }

  void replace_worst(const Scored& scored) {
    auto worst = std::max_element(population_.begin(), population_.end(), is_faster);
    if (is_faster(scored, *worst)) *worst = scored;
  }

  Candidate offspring(std::size_t target) {
    const Candidate& x = population_[target].candidate;
    const Candidate& best =
        std::min_element(population_.begin(), population_.end(), is_faster)->candidate;
    const Candidate& a = population_[random_.below(kPopulation)].candidate;
    const Candidate& b = population_[random_.below(kPopulation)].candidate;
    Candidate offspring = x;
    const std::size_t forced = active_.empty() ? 0 : active_[random_.below(active_.size())];
    for (const std::size_t p : active_) {
      if (p != forced && random_.uniform() >= kCrossover) continue;
      if (space_.is_ordered(p)) {
        const double moved = x.choice[p] + kWeight * (best.choice[p] - x.choice[p]) +
                             kWeight * (a.choice[p] - b.choice[p]) + random_.uniform() - 0.5;
        const auto last = static_cast<double>(space_.value_count(p) - 1);
        offspring.choice[p] = static_cast<std::uint16_t>(std::clamp(std::round(moved), 0.0, last));
      } else {
        const std::uint64_t source = random_.below(3);
        offspring.choice[p] = source == 0   ? x.choice[p]
                              : source == 1 ? best.choice[p]
                                            : a.choice[p];
      }
    }
    return repair(space_, offspring, random_);
  }

  std::vector<Scored> population_;
  std::size_t turn_ = 0;
  std::unordered_map<Candidate, std::size_t, CandidateHash> target_of_;
};

}  // namespace

std::unique_ptr<Strategy> make_differential(const CandidateSpace& space,
                                            const StrategyOptions& options) {
  return std::make_unique<DifferentialStrategy>(space, options);
}

}  // namespace evo
