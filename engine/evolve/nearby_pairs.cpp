#include "engine/evolve/nearby_pairs.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "engine/core/statistics.hpp"
#include "engine/space/neighbours.hpp"

namespace evo {
namespace {

/// Summarises `factors`, the effects of a change on ln time in pairs of candidates (at least one).
PairEffect summary_of(std::vector<double> factors, std::optional<double> in_winner) {
  std::ranges::sort(factors);
  return {.pairs = factors.size(),
          .low = factors.front(),
          .middle = quantile(factors, 0.5),
          .high = factors.back(),
          .in_winner = in_winner};
}

Candidate with(Candidate candidate, std::size_t parameter, std::size_t value) {
  candidate.choice[parameter] = static_cast<std::uint16_t>(value);
  return candidate;
}

}  // namespace

const char* to_string(PairVerdict verdict) {
  switch (verdict) {
    case PairVerdict::kFaster:
      return "faster";
    case PairVerdict::kSlower:
      return "slower";
    case PairVerdict::kSame:
      return "same";
    case PairVerdict::kUntried:
      break;
  }
  return "untried";
}

PairVerdict PairEffect::verdict() const {
  if (!in_winner) return PairVerdict::kUntried;
  if (std::abs(*in_winner) <= std::log1p(kSameTime)) return PairVerdict::kSame;
  return *in_winner < 0 ? PairVerdict::kFaster : PairVerdict::kSlower;
}

double log_percent(double log_factor) { return 100 * std::expm1(log_factor); }

NearbyPairs::NearbyPairs(std::span<const Candidate> candidates, std::span<const double> log_times,
                         const Candidate& winner)
    : winner_(winner) {
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    log_times_.emplace(candidates[i], log_times[i]);
  }
  const std::optional<double> best = log_time(winner);
  if (!best) return;
  for (const auto& [candidate, time] : log_times_) {
    const bool is_near =
        time <= *best + std::log(kNearTime) && hamming_distance(candidate, winner) <= kNearMacros;
    if (is_near) near_.push_back(candidate);
  }
  std::ranges::sort(near_);  // sorted, because the order of a hash table is unspecified
}

std::optional<double> NearbyPairs::log_time(const Candidate& candidate) const {
  const auto found = log_times_.find(candidate);
  if (found == log_times_.end()) return std::nullopt;
  return found->second;
}

std::optional<PairEffect> NearbyPairs::effect(std::size_t parameter, std::size_t value) const {
  std::vector<double> factors;
  std::optional<double> in_winner;
  for (const Candidate& base : near_) {
    if (base.choice[parameter] != winner_.choice[parameter]) continue;
    const std::optional<double> changed = log_time(with(base, parameter, value));
    if (!changed) continue;
    factors.push_back(*changed - *log_time(base));
    if (base == winner_) in_winner = factors.back();
  }
  if (factors.empty()) return std::nullopt;
  return summary_of(std::move(factors), in_winner);
}

std::vector<NearbyPairs::Square> NearbyPairs::squares() const {
  using Corner = std::array<std::size_t, 2>;  // parameter, value
  std::map<std::array<Corner, 2>, std::vector<double>> factors;
  std::map<std::array<Corner, 2>, double> in_winner;
  for (const Candidate& base : near_) {
    // Candidates that differ from `base` in a single macro, which has the winner's value in `base`.
    std::vector<std::pair<Corner, double>> beside;
    for (const auto& [other, time] : log_times_) {
      if (hamming_distance(base, other) != 1) continue;
      const auto [at, in_other] = std::ranges::mismatch(base.choice, other.choice);
      const auto parameter = static_cast<std::size_t>(at - base.choice.begin());
      if (*at == winner_.choice[parameter]) beside.push_back({{parameter, *in_other}, time});
    }
    std::ranges::sort(beside);
    for (std::size_t i = 0; i < beside.size(); ++i) {
      for (std::size_t j = i + 1; j < beside.size(); ++j) {
        const auto& [first, first_time] = beside[i];
        const auto& [second, second_time] = beside[j];
        if (first[0] == second[0]) continue;
        const auto both = log_time(with(with(base, first[0], first[1]), second[0], second[1]));
        if (!both) continue;
        const double beyond = *both - first_time - second_time + *log_time(base);
        factors[{first, second}].push_back(beyond);
        if (base == winner_) in_winner[{first, second}] = beyond;
      }
    }
  }
  std::vector<Square> found;
  for (const auto& [corners, seen] : factors) {
    const auto own = in_winner.find(corners);
    const PairEffect beyond =
        summary_of(seen, own != in_winner.end() ? std::optional(own->second) : std::nullopt);
    // A joint effect combines four measured times with equal scatter, so its scatter is twice that
    // of one time, and it counts only above twice kSameTime.
    const bool is_plain =
        std::abs(beyond.middle) > 2 * kSameTime && (beyond.low > 0 || beyond.high < 0);
    if (is_plain) {
      found.push_back({corners[0][0], corners[0][1], corners[1][0], corners[1][1], beyond});
    }
  }
  std::ranges::stable_sort(found, [](const Square& a, const Square& b) {
    return std::abs(a.beyond.middle) > std::abs(b.beyond.middle);
  });
  return found;
}

}  // namespace evo
