// The search methods Free and Insight of the paper EvoEngineer (Guo et al., arXiv 2510.03760), with
// statistics in place of the language model. The method Full is in full_strategy.cpp.
#include <algorithm>
#include <cmath>
#include <optional>

#include "engine/evolve/portable_math.hpp"
#include "engine/evolve/strategies.hpp"

namespace evo {
namespace {

constexpr int kOffspringAttempts = 20;  ///< attempts to make an offspring that is valid and new

/// EvoEngineer-Free knows only which candidates are valid and which candidate is the best. The
/// offspring are copies of the best candidate with one or more changes.
class FreeStrategy : public SearchBase {
 public:
  using SearchBase::SearchBase;

  std::vector<Candidate> propose(std::size_t count) override {
    std::vector<Candidate> proposals;
    for (std::size_t i = 0; best_ && !active_.empty() && i < count; ++i) {
      for (int attempt = 0; attempt < kOffspringAttempts; ++attempt) {
        if (take(offspring(), proposals)) break;
      }
    }
    fill(proposals, count);
    return proposals;
  }

 protected:
  void learn(const Observation& observation) override {
    if (!observation.time_us) return;
    const Scored scored{observation.candidate, portable_log(*observation.time_us)};
    if (!best_ || scored.log_time < best_->log_time) best_ = scored;
  }

  /// A random number of changes: 1 with probability 1/2, 2 with probability 1/4, and so on.
  std::size_t change_count() {
    std::size_t changes = 1;
    while (changes < active_.size() && random_.below(2) == 0) ++changes;
    return changes;
  }

  virtual Candidate offspring() {
    Candidate offspring = best_->candidate;
    for (std::size_t changes = change_count(); changes > 0; --changes) {
      const std::size_t p = active_[random_.below(active_.size())];
      offspring.choice[p] = other_value(p, offspring.choice[p]);
    }
    return offspring;
  }

  std::optional<Scored> best_;
};

/// Statistics of all evaluated candidates with one value of one parameter.
struct ValueRecord {
  double sum = 0;  ///< sum of ln time
  double squares = 0;
  double runs = 0;
  double failures = 0;
};

/// EvoEngineer-Insight is EvoEngineer-Free, guided by the results so far. Thompson sampling on the
/// mean log time and the failures of each value decides which parameter changes and to which value,
/// so that rarely tried values are still tried.
class InsightStrategy final : public FreeStrategy {
 public:
  InsightStrategy(const CandidateSpace& space, const StrategyOptions& options)
      : FreeStrategy(space, options), records_(space.parameter_count()) {
    for (std::size_t p = 0; p < records_.size(); ++p) records_[p].resize(space.value_count(p));
  }

 private:
  void learn(const Observation& observation) override {
    FreeStrategy::learn(observation);
    const double y = observation.time_us ? portable_log(*observation.time_us) : 0;
    for (std::size_t p = 0; p < records_.size(); ++p) {
      ValueRecord& record = records_[p][observation.candidate.choice[p]];
      (observation.time_us ? record.runs : record.failures) += 1;
      record.sum += y;
      record.squares += y * y;
    }
    if (!observation.time_us) return;
    all_.runs += 1;
    all_.sum += y;
    all_.squares += y * y;
  }

  /// A random draw from the posterior distribution of the mean log time of candidates with a value.
  /// The prior counts as one candidate with the overall mean. Each failure counts as a candidate
  /// that is one standard deviation slower.
  double draw(const ValueRecord& record) {
    const double mean = all_.sum / all_.runs;
    const double spread = std::sqrt(std::max(all_.squares / all_.runs - mean * mean, 0.0)) + 1e-3;
    const double weight = 1 + record.runs + record.failures;
    const double center = (mean + record.sum + record.failures * (mean + spread)) / weight;
    // The sum of twelve uniform numbers is approximately normal and, unlike the normal distribution
    // of a library, the same on every machine.
    double normal = -6;
    for (int i = 0; i < 12; ++i) normal += random_.uniform();
    return center + normal * spread / std::sqrt(weight);
  }

  Candidate offspring() override {
    Candidate offspring = best_->candidate;
    for (std::size_t changes = change_count(); changes > 0; --changes) {
      const auto [parameter, value] = best_change(offspring);
      offspring.choice[parameter] = value;
    }
    return offspring;
  }

  /// Picks kDraws random changes, each of one parameter of `from`. Returns the change (parameter
  /// and value) with the largest gain in ln time, for which draw() gives the ln time of each value.
  std::pair<std::size_t, std::uint16_t> best_change(const Candidate& from) {
    constexpr int kDraws = 2;
    std::pair<std::size_t, std::uint16_t> best{active_.front(), from.choice[active_.front()]};
    double best_gain = 0;
    for (int i = 0; i < kDraws; ++i) {
      const std::size_t p = active_[random_.below(active_.size())];
      const std::uint16_t value = other_value(p, from.choice[p]);
      const double gain = draw(records_[p][from.choice[p]]) - draw(records_[p][value]);
      if (i == 0 || gain > best_gain) {
        best_gain = gain;
        best = {p, value};
      }
    }
    return best;
  }

  std::vector<std::vector<ValueRecord>> records_;
  ValueRecord all_;
};

}  // namespace

std::unique_ptr<Strategy> make_free(const CandidateSpace& space, const StrategyOptions& options) {
  return std::make_unique<FreeStrategy>(space, options);
}

std::unique_ptr<Strategy> make_insight(const CandidateSpace& space,
                                       const StrategyOptions& options) {
  return std::make_unique<InsightStrategy>(space, options);
}

}  // namespace evo
