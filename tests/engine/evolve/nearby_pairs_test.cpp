#include "engine/evolve/nearby_pairs.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace evo {
namespace {

struct Timed {
  std::vector<std::uint16_t> choice;
  double time_us;
};

NearbyPairs pairs_of(const std::vector<Timed>& timed) {
  std::vector<Candidate> candidates;
  std::vector<double> log_times;
  for (const Timed& one : timed) {
    candidates.push_back({one.choice});
    log_times.push_back(std::log(one.time_us));
  }
  return {candidates, log_times, candidates.front()};
}

TEST(NearbyPairs, AnEffectIsThatOfCandidatesThatDifferInNothingElse) {
  const NearbyPairs pairs = pairs_of(
      {{{0, 0, 0}, 10}, {{1, 0, 0}, 12}, {{0, 1, 0}, 10.5}, {{1, 1, 0}, 13}, {{2, 1, 1}, 9.9}});
  const auto effect = pairs.effect(0, 1);
  ASSERT_TRUE(effect);
  EXPECT_EQ(effect->pairs, 2U);
  EXPECT_NEAR(log_percent(effect->low), 20, 1e-9);
  EXPECT_NEAR(log_percent(effect->high), 100 * (13 / 10.5 - 1), 1e-9);
  ASSERT_TRUE(effect->in_winner);
  EXPECT_NEAR(log_percent(*effect->in_winner), 20, 1e-9);
  EXPECT_EQ(effect->verdict(), PairVerdict::kSlower);
  // The effect of value 2 of the first macro is unknown, because no other candidate differs from
  // the candidate with this value in the first macro alone.
  EXPECT_FALSE(pairs.effect(0, 2));
}

TEST(NearbyPairs, PairsFarFromTheWinnerDoNotCount) {
  // A pair counts only if its candidate with the winner's value differs from the winner in at most
  // two macros, and takes at most twice the winner's time. The first pair breaks the first
  // condition, the second pair the second condition.
  const NearbyPairs pairs = pairs_of({{{0, 0, 0, 0}, 10},
                                      {{0, 1, 1, 1}, 11},
                                      {{1, 1, 1, 1}, 8},
                                      {{0, 1, 1, 0}, 21},
                                      {{1, 1, 1, 0}, 15}});
  EXPECT_FALSE(pairs.effect(0, 1));
  const NearbyPairs nearer = pairs_of({{{0, 0, 0, 0}, 10}, {{0, 1, 1, 0}, 19}, {{1, 1, 1, 0}, 15}});
  ASSERT_TRUE(nearer.effect(0, 1));
  EXPECT_FALSE(nearer.effect(0, 1)->in_winner);
}

TEST(NearbyPairs, AVerdictIsThatOfTheWinnersOwnPair) {
  const auto verdict = [](double in_winner, double beside) {
    return pairs_of({{{0, 0}, 100}, {{1, 0}, in_winner}, {{0, 1}, 100}, {{1, 1}, beside}})
        .effect(0, 1)
        ->verdict();
  };
  EXPECT_EQ(verdict(104, 90), PairVerdict::kSlower);
  EXPECT_EQ(verdict(95, 110), PairVerdict::kFaster);
  EXPECT_EQ(verdict(101.5, 130), PairVerdict::kSame);
  EXPECT_EQ(verdict(98.5, 130), PairVerdict::kSame);
  // A clear difference in a pair that does not contain the winner proves nothing about the winner.
  const auto beside = pairs_of({{{0, 0}, 100}, {{0, 1}, 100}, {{1, 1}, 50}}).effect(0, 1);
  EXPECT_EQ(beside->verdict(), PairVerdict::kUntried);
}

TEST(NearbyPairs, ASquareSaysWhatTwoValuesDoTogether) {
  const auto squares = pairs_of({{{0, 0}, 10}, {{1, 0}, 12}, {{0, 1}, 11}, {{1, 1}, 20}}).squares();
  ASSERT_EQ(squares.size(), 1U);
  EXPECT_EQ(squares[0].first_parameter, 0U);
  EXPECT_EQ(squares[0].second_parameter, 1U);
  EXPECT_NEAR(std::exp(squares[0].beyond.middle), 20.0 * 10 / (12 * 11), 1e-9);
  // Two effects whose time factors multiply are no interaction, and three candidates cannot prove
  // an interaction.
  EXPECT_TRUE(
      pairs_of({{{0, 0}, 10}, {{1, 0}, 12}, {{0, 1}, 11}, {{1, 1}, 13.2}}).squares().empty());
  EXPECT_TRUE(pairs_of({{{0, 0}, 10}, {{1, 0}, 12}, {{0, 1}, 11}}).squares().empty());
}

}  // namespace
}  // namespace evo
