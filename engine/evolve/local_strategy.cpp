#include <deque>
#include <optional>

#include "engine/evolve/portable_math.hpp"
#include "engine/evolve/strategies.hpp"
#include "engine/space/neighbours.hpp"

namespace evo {
namespace {

constexpr std::size_t kKick = 3;   ///< parameters changed to leave a local optimum
constexpr int kKickAttempts = 40;  ///< attempts per generation to make new copies (step 3)

/// 1. Propose the unseen neighbours of a candidate, the centre, in random order.
/// 2. A candidate that is faster than the centre becomes the centre at once.
/// 3. When all neighbours of the centre were proposed, fill the generation with copies of the best
///    candidate so far, each with kKick random changes (and repaired if it is invalid). The next
///    candidate that passes all gates becomes the centre, even if it is slower than the best
///    candidate.
class LocalStrategy final : public SearchBase {
 public:
  using SearchBase::SearchBase;

  std::vector<Candidate> propose(std::size_t count) override {
    std::vector<Candidate> proposals;
    while (proposals.size() < count && !queue_.empty()) {
      take(queue_.front(), proposals);
      queue_.pop_front();
    }
    if (proposals.size() < count && best_ && !active_.empty()) {
      centre_.reset();
      for (int attempt = 0; attempt < kKickAttempts && proposals.size() < count; ++attempt) {
        take(kicked(), proposals);
      }
    }
    fill(proposals, count);
    return proposals;
  }

 private:
  void learn(const Observation& observation) override {
    if (!observation.time_us) return;
    const Scored scored{observation.candidate, portable_log(*observation.time_us)};
    if (!best_ || scored.log_time < best_->log_time) best_ = scored;
    if (!centre_ || scored.log_time < centre_->log_time) move_to(scored);
  }

  Candidate kicked() {
    Candidate candidate = best_->candidate;
    for (std::size_t i = 0; i < kKick; ++i) {
      const std::size_t p = active_[random_.below(active_.size())];
      candidate.choice[p] = other_value(p, candidate.choice[p]);
    }
    return repair(space_, candidate, random_);
  }

  void move_to(const Scored& scored) {
    centre_ = scored;
    queue_.clear();
    const std::vector<Candidate> near =
        neighbours(space_, scored.candidate, Neighbourhood::kAnyValue);
    for (const std::size_t i : random_order(near.size(), random_)) queue_.push_back(near[i]);
  }

  std::optional<Scored> best_;
  std::optional<Scored> centre_;
  std::deque<Candidate> queue_;
};

}  // namespace

std::unique_ptr<Strategy> make_local(const CandidateSpace& space, const StrategyOptions& options) {
  return std::make_unique<LocalStrategy>(space, options);
}

}  // namespace evo
