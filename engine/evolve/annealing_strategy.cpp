#include <algorithm>
#include <optional>

#include "engine/evolve/portable_math.hpp"
#include "engine/evolve/strategies.hpp"
#include "engine/space/neighbours.hpp"

namespace evo {
namespace {

/// the initial temperature, in units of ln time: at 0.5, a step to a candidate that takes e^0.5 =
/// 1.65 times as long is accepted with probability 1/e
constexpr double kHot = 0.5;
constexpr double kCold = 0.005;    ///< the lowest temperature
constexpr double kCooling = 0.98;  ///< per evaluation; kCold is reached after about 230
constexpr int kPatience = 40;      ///< evaluations without an accepted step before a restart

/// 1. Propose unseen neighbours of the current candidate, which usually differ from it by one step
///    of an ordered parameter.
/// 2. For each evaluated neighbour in turn: make it the current candidate if it is faster,
///    otherwise with probability e^(−Δ ln t / T), where t is the time and T the temperature.
/// 3. Lower the temperature. After kPatience neighbours in turn that were not accepted, restart at
///    temperature kHot from a random candidate.
class AnnealingStrategy final : public SearchBase {
 public:
  using SearchBase::SearchBase;

  std::vector<Candidate> propose(std::size_t count) override {
    std::vector<Candidate> proposals;
    if (current_) {
      take_some(Neighbourhood::kNextValue, count, proposals);
      take_some(Neighbourhood::kAnyValue, count, proposals);
      if (proposals.empty()) restart();
    }
    fill(proposals, count);
    return proposals;
  }

 private:
  void learn(const Observation& observation) override {
    temperature_ = std::max(kCold, temperature_ * kCooling);
    if (accepts(observation)) {
      current_ = Scored{observation.candidate, portable_log(*observation.time_us)};
      refused_ = 0;
    } else if (++refused_ >= kPatience) {
      restart();
    }
  }

  void take_some(Neighbourhood neighbourhood, std::size_t count,
                 std::vector<Candidate>& proposals) {
    const std::vector<Candidate> near = neighbours(space_, current_->candidate, neighbourhood);
    for (const std::size_t i : random_order(near.size(), random_)) {
      if (proposals.size() < count) take(near[i], proposals);
    }
  }

  bool accepts(const Observation& observation) {
    if (!observation.time_us) return false;
    if (!current_) return true;
    const double worse = portable_log(*observation.time_us) - current_->log_time;
    return worse < 0 || random_.uniform() < portable_exp(-worse / temperature_);
  }

  void restart() {
    current_.reset();
    temperature_ = kHot;
    refused_ = 0;
  }

  std::optional<Scored> current_;
  double temperature_ = kHot;
  int refused_ = 0;
};

}  // namespace

std::unique_ptr<Strategy> make_annealing(const CandidateSpace& space,
                                         const StrategyOptions& options) {
  return std::make_unique<AnnealingStrategy>(space, options);
}

}  // namespace evo
