#include "engine/evolve/full_strategy.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "engine/core/rank_correlation.hpp"
#include "engine/evolve/gaussian_process.hpp"
#include "engine/evolve/portable_math.hpp"
#include "engine/evolve/strategies.hpp"
#include "engine/space/neighbours.hpp"

namespace evo {
namespace {

/// Number of candidates with a time that the model needs for its first prediction.
constexpr std::size_t kFewestTimes = 3;
/// The covariance kernel is fitted again when the number of observations has grown by this factor.
constexpr double kRefitGrowth = 1.25;
/// Lower limit of the assumed spread of ln times, because smaller differences are noise.
constexpr double kSmallestSpread = 0.02;

/// The score by which candidates of the pool are chosen. The lowest score is the best.
struct Acquisition {
  std::span<const float> mean;
  std::span<const float> variance;
  std::span<const float> failure;
  double penalty;

  [[nodiscard]] double operator()(std::size_t i, double beta) const {
    return static_cast<double>(mean[i]) - beta * std::sqrt(static_cast<double>(variance[i])) +
           penalty * static_cast<double>(failure[i]);
  }
};

class FullStrategy final : public SearchBase {
 public:
  FullStrategy(const CandidateSpace& space, const StrategyOptions& options,
               const FullSettings& settings)
      : SearchBase(space, options),
        settings_(settings),
        encoding_(space),
        fitted_(prior_kernel(encoding_.dimensions(), settings.prior)),
        failures_(encoding_.dimensions(), settings.failure) {}

  std::vector<Candidate> propose(std::size_t count) override {
    std::vector<Candidate> proposals;
    if (ran_.size() < kFewestTimes || observed_.size() < settings_.initial) {
      propose_spread(proposals, count);
    } else if (encoding_.size() > 0) {
      propose_modelled(proposals, count);
    }
    fill(proposals, count);
    pending_.insert(pending_.end(), proposals.begin(), proposals.end());
    return proposals;
  }

 private:
  void learn(const Observation& observation) override {
    observed_.push_back(observation.candidate);
    const auto pending = std::find(pending_.begin(), pending_.end(), observation.candidate);
    if (pending != pending_.end()) pending_.erase(pending);
    std::vector<std::uint16_t> point;
    encoding_.append(observation.candidate, point);
    if (!point.empty()) failures_.add(point, !observation.time_us);
    if (observed_.size() > settings_.initial) adapt_penalty(!observation.time_us);
    if (!observation.time_us) return;
    const Scored scored{observation.candidate, portable_log(*observation.time_us)};
    ran_.insert(
        std::upper_bound(ran_.begin(), ran_.end(), scored,
                         [](const Scored& a, const Scored& b) { return a.log_time < b.log_time; }),
        scored);
  }

  struct TrainingSet {
    std::vector<std::uint16_t> points;
    std::vector<float> targets;
  };

  void adapt_penalty(bool failed) {
    const FailureSettings& failure = settings_.failure;
    penalty_ = std::clamp(penalty_ * (failed ? failure.penalty_rise : failure.penalty_fall),
                          failure.least_penalty, failure.most_penalty);
  }

  [[nodiscard]] static std::size_t nearest(const Candidate& candidate,
                                           std::span<const Candidate> others) {
    std::size_t distance = candidate.choice.size();
    for (const Candidate& other : others) {
      distance = std::min(distance, hamming_distance(candidate, other));
    }
    return distance;
  }

  /// Step 1: proposes candidates that are far from each other. For each proposal, draws several
  /// random candidates and takes the one whose distance to the nearest seen candidate is largest.
  void propose_spread(std::vector<Candidate>& proposals, std::size_t count) {
    while (proposals.size() < count) {
      std::optional<Candidate> best;
      std::size_t best_distance = 0;
      for (std::size_t draw = 0; draw < settings_.initial_draws; ++draw) {
        const std::optional<Candidate> candidate = seen_.random_unseen(random_);
        if (!candidate) return;
        const std::size_t distance =
            std::min({nearest(*candidate, observed_), nearest(*candidate, pending_),
                      nearest(*candidate, proposals)});
        if (!best || distance > best_distance) {
          best = candidate;
          best_distance = distance;
        }
      }
      if (!best || !take(*best, proposals)) return;
    }
  }

  /// Selects at most `limit` observations for training: the fastest for one half, and for the other
  /// half, observations evenly spread over the rest in the order of their times.
  [[nodiscard]] std::vector<std::size_t> training_indices(std::size_t limit) const {
    std::vector<std::size_t> indices(std::min(limit, ran_.size()));
    std::iota(indices.begin(), indices.end(), std::size_t{0});
    const std::size_t fastest = limit / 2;
    for (std::size_t i = fastest; ran_.size() > limit && i < limit; ++i) {
      indices[i] = fastest + (i - fastest) * (ran_.size() - fastest) / (limit - fastest);
    }
    return indices;
  }

  /// The training set of the model. The targets are ln times, clipped from above, then shifted and
  /// scaled to mean 0 and variance 1.
  [[nodiscard]] TrainingSet training_set(std::size_t limit) const {
    const double best = ran_.front().log_time;
    const double median = ran_[ran_.size() / 2].log_time;
    const double cap = best + settings_.clip * std::max(median - best, kSmallestSpread);
    TrainingSet set;
    std::vector<double> values;
    for (const std::size_t i : training_indices(limit)) {
      encoding_.append(ran_[i].candidate, set.points);
      values.push_back(std::min(ran_[i].log_time, cap));
    }
    const auto n = static_cast<double>(values.size());
    const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
    double squares = 0;
    for (const double value : values) squares += (value - mean) * (value - mean);
    const double deviation = std::sqrt(std::max(squares / n, 1e-8));
    for (const double value : values) {
      set.targets.push_back(static_cast<float>((value - mean) / deviation));
    }
    return set;
  }

  /// Step 2: fits the covariance kernel again if there are enough new observations.
  void learn_kernel() {
    if (!settings_.learns_kernel || static_cast<double>(ran_.size()) < next_fit_) return;
    next_fit_ = static_cast<double>(ran_.size()) * kRefitGrowth;
    const TrainingSet set = training_set(settings_.prior.max_points);
    fitted_ = improved_kernel(std::move(fitted_), settings_.prior, set.points, set.targets);
  }

  void propose_modelled(std::vector<Candidate>& proposals, std::size_t count) {
    learn_kernel();
    TrainingSet set = training_set(settings_.max_training);
    const GaussianProcess process(fitted_.kernel, std::move(set.points), set.targets,
                                  fitted_.noise);
    const ProposalPool pool = bred_pool(process);
    if (!pool.candidates().empty()) choose(process, pool, proposals, count);
  }

  /// Step 3: makes the pool of candidates from which proposals are chosen.
  ProposalPool bred_pool(const GaussianProcess& process) {
    std::vector<Candidate> elite;
    const std::size_t elite_size = std::max<std::size_t>(options_.elite_size, 1);
    for (std::size_t i = 0; i < std::min(elite_size, ran_.size()); ++i) {
      elite.push_back(ran_[i].candidate);
    }
    ProposalPool pool(space_, encoding_, seen_);
    pool.add(runners_up_);
    pool.breed(elite, settings_.pool, random_);
    if (settings_.pool.climbers > 0 && !pool.candidates().empty()) {
      pool.climb(promising(process, pool), settings_.pool, random_);
    }
    return pool;
  }

  /// The predictions for the pool. Candidates that are being evaluated are assumed to have their
  /// predicted times.
  [[nodiscard]] PoolPosterior believed(const GaussianProcess& process,
                                       std::vector<std::uint16_t> points,
                                       std::size_t pool_size) const {
    for (const Candidate& candidate : pending_) encoding_.append(candidate, points);
    PoolPosterior posterior(process, std::move(points));
    for (std::size_t i = 0; i < pending_.size(); ++i) posterior.choose(pool_size + i);
    return posterior;
  }

  /// Indices into the pool, sorted so that the most promising candidate comes first.
  [[nodiscard]] std::vector<std::size_t> promising(const GaussianProcess& process,
                                                   const ProposalPool& pool) {
    const std::vector<std::uint16_t> points = pool.encoded();
    const std::vector<float> failure = failures_.probability(points);
    const PoolPosterior posterior = believed(process, points, failure.size());
    const Acquisition score{posterior.mean(), posterior.variance(), failure, penalty_};
    std::vector<double> scores(failure.size());
    for (std::size_t i = 0; i < scores.size(); ++i) scores[i] = score(i, settings_.beta_low);
    return order_of(scores);
  }

  /// The β (see Acquisition) of proposal number `turn` in a generation of `count` proposals. β goes
  /// from beta_low to beta_high; for a single proposal, β is drawn at random between these limits.
  [[nodiscard]] double beta_of(std::size_t turn, std::size_t count) {
    return count > 1 ? beta_at(turn, count) : beta_at_share(random_.uniform());
  }
  /// The β of proposal number `turn` in a generation of `count` > 1 proposals.
  [[nodiscard]] double beta_at(std::size_t turn, std::size_t count) const {
    return beta_at_share(static_cast<double>(turn) / static_cast<double>(count - 1));
  }
  [[nodiscard]] double beta_at_share(double share) const {
    return settings_.beta_low + (settings_.beta_high - settings_.beta_low) * share;
  }

  /// Step 4: chooses proposals from the pool.
  void choose(const GaussianProcess& process, const ProposalPool& pool,
              std::vector<Candidate>& proposals, std::size_t count) {
    const std::vector<std::uint16_t> points = pool.encoded();
    const std::vector<float> failure = failures_.probability(points);
    PoolPosterior posterior = believed(process, points, failure.size());
    const Acquisition score{posterior.mean(), posterior.variance(), failure, penalty_};
    std::vector<bool> taken(failure.size(), false);
    for (std::size_t turn = 0; turn < std::min(count, taken.size()); ++turn) {
      const auto best = best_of(score, beta_of(turn, count), taken);
      if (!best) return;
      posterior.choose(*best);
      take(pool.candidates()[*best], proposals);
    }
    runners_up_.clear();
    for (std::size_t turn = 0; turn < settings_.runners_up; ++turn) {
      constexpr std::size_t kBetas = 4;
      const auto best = best_of(score, beta_at(turn % kBetas, kBetas), taken);
      if (!best) return;
      runners_up_.push_back(pool.candidates()[*best]);
    }
  }

  /// Returns the index of the best candidate that is not taken, and marks it as taken.
  [[nodiscard]] static std::optional<std::size_t> best_of(const Acquisition& score, double beta,
                                                          std::vector<bool>& taken) {
    std::optional<std::size_t> best;
    double best_score = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < taken.size(); ++i) {
      if (taken[i] || score(i, beta) >= best_score) continue;
      best = i;
      best_score = score(i, beta);
    }
    if (best) taken[*best] = true;
    return best;
  }

  FullSettings settings_;
  Encoding encoding_;
  FittedKernel fitted_;
  FailureModel failures_;
  double penalty_ = settings_.failure.penalty;
  double next_fit_ = 0;
  std::vector<Candidate> observed_;
  std::vector<Candidate> runners_up_;  ///< of the last proposals; most promising first
  std::vector<Candidate> pending_;     ///< proposed but not observed, oldest first
  std::vector<Scored> ran_;            ///< candidates that ran, fastest first
};

}  // namespace

std::unique_ptr<Strategy> make_full(const CandidateSpace& space, const StrategyOptions& options,
                                    const FullSettings& settings) {
  return std::make_unique<FullStrategy>(space, options, settings);
}

std::unique_ptr<Strategy> make_full(const CandidateSpace& space, const StrategyOptions& options) {
  return make_full(space, options, {});
}

}  // namespace evo
