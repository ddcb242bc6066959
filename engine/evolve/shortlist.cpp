#include "engine/evolve/shortlist.hpp"

#include <algorithm>
#include <numeric>

#include "engine/core/rank_correlation.hpp"
#include "engine/evolve/portable_math.hpp"

namespace evo {
namespace {

/// Of what is measured, the share that was drawn beforehand.
constexpr double kSurprises = 0.25;
/// Trust is decided by so many of them, at least and at most.
constexpr std::size_t kFewestSurprises = 8;
constexpr std::size_t kMostSurprises = 32;
/// Spearman's rank correlation below which predictions are not trusted. Eight pairs of unrelated
/// numbers exceed it once in four.
constexpr double kLeastCorrelation = 0.3;
/// The error is asked of so many, those of lowest predicted time.
constexpr std::size_t kMostCorrected = 128;

}  // namespace

Shortlist::Shortlist(const CandidateSpace& space, const ShortlistOptions& options)
    : options_(options), random_(options.seed), error_(space) {}

std::optional<double> Shortlist::rank_correlation() const {
  if (surprises_.size() < kFewestSurprises) return std::nullopt;
  std::vector<double> predicted;
  std::vector<double> measured;
  for (const Surprise& surprise : surprises_) {
    predicted.push_back(surprise.predicted_us);
    measured.push_back(surprise.measured_us);
  }
  return spearman(predicted, measured);
}

bool Shortlist::is_on() const {
  const std::optional<double> correlation = rank_correlation();
  return !correlation || *correlation >= kLeastCorrelation;  // not a number: nothing to rank by
}

bool Shortlist::measures_next() {
  const bool drawn = random_.uniform() * static_cast<double>(options_.proposals) < kSurprises;
  const bool is_early = drawn_ < kFewestSurprises;
  if (!drawn && !is_early && is_on()) return false;
  ++drawn_;
  return true;
}

void Shortlist::wait(const Candidate& candidate, double predicted_us) {
  waiting_.push_back({candidate, predicted_us});
  // So that with the surprises one of `proposals` is measured.
  due_ += (1 - kSurprises) / (static_cast<double>(options_.proposals) - kSurprises);
}

void Shortlist::learn_returned(const Candidate& candidate, double measured_us) {
  const auto taken = taken_.find(candidate);
  if (taken == taken_.end()) return;
  error_.learn(candidate, taken->second, measured_us);
  taken_.erase(taken);
}

void Shortlist::learn(const Candidate& candidate, double predicted_us, double measured_us) {
  error_.learn(candidate, predicted_us, measured_us);
  if (!is_on()) due_ += 1;
  surprises_.push_back({predicted_us, measured_us});
  if (surprises_.size() > kMostSurprises) surprises_.pop_front();
}

std::optional<Candidate> Shortlist::take_due() {
  if (due_ < 1 || waiting_.empty()) return std::nullopt;
  due_ -= 1;
  return take_any();
}

std::optional<Candidate> Shortlist::take_any() {
  if (waiting_.empty()) return std::nullopt;
  const auto taken = waiting_.begin() + static_cast<std::ptrdiff_t>(is_on() ? most_promising() : 0);
  Candidate candidate = std::move(taken->candidate);
  taken_.emplace(candidate, taken->predicted_us);
  waiting_.erase(taken);
  return candidate;
}

std::size_t Shortlist::most_promising() {
  std::vector<std::size_t> order(waiting_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return waiting_[a].predicted_us < waiting_[b].predicted_us;
  });
  order.resize(std::min(order.size(), kMostCorrected));
  std::vector<Candidate> candidates;
  for (const std::size_t i : order) candidates.push_back(waiting_[i].candidate);
  const std::vector<double> error = error_.expected(candidates);
  std::size_t best = 0;
  double best_log = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const double log = portable_log(waiting_[order[i]].predicted_us) + error[i];
    if (i > 0 && log >= best_log) continue;
    best = order[i];
    best_log = log;
  }
  return best;
}

}  // namespace evo
