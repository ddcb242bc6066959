#include "engine/evolve/strategies.hpp"

namespace evo {
namespace {

class RandomStrategy final : public SearchBase {
 public:
  using SearchBase::SearchBase;

  std::vector<Candidate> propose(std::size_t count) override {
    std::vector<Candidate> proposals;
    fill(proposals, count);
    return proposals;
  }
};

class ExhaustiveStrategy final : public SearchBase {
 public:
  using SearchBase::SearchBase;

  std::vector<Candidate> propose(std::size_t count) override {
    std::vector<Candidate> proposals;
    while (proposals.size() < count) {
      const std::optional<Candidate> candidate = seen_.next_unseen();
      if (!candidate) break;
      take(*candidate, proposals);
    }
    return proposals;
  }
};

}  // namespace

std::unique_ptr<Strategy> make_random(const CandidateSpace& space, const StrategyOptions& options) {
  return std::make_unique<RandomStrategy>(space, options);
}

std::unique_ptr<Strategy> make_exhaustive(const CandidateSpace& space,
                                          const StrategyOptions& options) {
  return std::make_unique<ExhaustiveStrategy>(space, options);
}

}  // namespace evo
