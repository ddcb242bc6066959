#include "engine/evolve/insight.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/engine/study/made_spaces.hpp"

namespace evo {
namespace {

using testing::HasSubstr;

/// A space with known effects: each step of P0 increases the time by 10 %, P1 has no effect, P3 = 1
/// increases the time by 30 % if P0 = 0, and observe_all() lets P2 = 2 fail at the resource gate.
RecordedSpace known_space() {
  return made_space(
      {4, 3, 3, 2}, [](const Candidate&) { return true; }, [](const Candidate&) { return false; },
      [](const Candidate& c) {
        return std::pow(1.1, c.choice[0]) * (c.choice[0] == 0 && c.choice[3] == 1 ? 1.3 : 1.0);
      });
}

std::vector<Observation> observe_all(const RecordedSpace& space, double noise, std::uint64_t seed) {
  Random random(seed);
  std::vector<Observation> observations;
  for (std::uint64_t rank = 0; rank < space.rank_count(); ++rank) {
    const Candidate candidate = *space.at_rank(rank);
    if (candidate.choice[2] == 2) {
      observations.push_back({candidate, {}, Gate::kResource});
    } else {
      const double time_us = 1e3 * *space.entry(candidate).time_ms;
      observations.push_back({candidate, time_us * std::exp(noise * random.normal()), {}});
    }
  }
  return observations;
}

const KnobInsight& knob(const Insight& insight, std::size_t parameter) {
  for (const KnobInsight& one : insight.knobs) {
    if (one.parameter == parameter) return one;
  }
  throw std::out_of_range("no such knob");
}

const ValueInsight& value_of(const Insight& insight, std::size_t parameter, std::size_t value) {
  for (const ValueInsight& one : knob(insight, parameter).values) {
    if (one.value == value) return one;
  }
  throw std::out_of_range("no such value");
}

TEST(Insight, FindsEffectsInteractionsFailuresAndNegatives) {
  const RecordedSpace space = known_space();
  const Insight insight = learn(space, observe_all(space, 0.001, 1));
  EXPECT_EQ(insight.evaluations, 72U);
  EXPECT_EQ(insight.failed, 24U);
  EXPECT_EQ(insight.best->choice[0], 0);
  const ValueInsight& slow = value_of(insight, 0, 3);
  EXPECT_EQ(slow.effect->verdict(), PairVerdict::kSlower);
  EXPECT_NEAR(*slow.effect->in_winner, 3 * std::log(1.1), 0.01);
  EXPECT_EQ(slow.effect->pairs, 10U)
      << "12 pairs, minus the 2 in which all other macros differ from the winner's";
  const std::uint16_t other = insight.best->choice[1] == 0 ? 1 : 0;
  EXPECT_EQ(value_of(insight, 1, other).effect->verdict(), PairVerdict::kSame);
  ASSERT_EQ(insight.only_failed.size(), 1U);
  EXPECT_EQ(insight.only_failed[0].parameter, 2U);
  EXPECT_EQ(insight.only_failed[0].value, 2U);
  const auto& failures = insight.only_failed[0].failures;
  EXPECT_EQ(failures[static_cast<std::size_t>(Gate::kResource)], insight.only_failed[0].failed());
  EXPECT_EQ(value_of(insight, 2, 2).failed_in_winner, Gate::kResource);
  ASSERT_FALSE(insight.interactions.empty());
  for (const InteractionInsight& square : insight.interactions) {
    EXPECT_EQ(square.parameter, (std::array<std::size_t, 2>{0, 3}));
    EXPECT_NEAR(square.beyond.middle, -std::log(1.3), 0.01);
  }
  ASSERT_FALSE(insight.negatives.empty());
  EXPECT_EQ(insight.negatives[0].parameter, 0U);
  EXPECT_EQ(insight.negatives[0].value, 3U);
}

TEST(Insight, AValueThatWasNotTriedNearTheWinnerHasNoEffect) {
  // P0 = 3 ran only with P1 = 1, and no other value of P0 ran with P1 = 1, so each candidate with
  // P0 = 3 differs from every candidate with another P0 in P1, too. An additive model would still
  // report an effect of P0 = 3.
  const RecordedSpace space = known_space();
  std::vector<Observation> observations;
  for (const Observation& one : observe_all(space, 0, 1)) {
    const auto& choice = one.candidate.choice;
    if ((choice[0] == 3) == (choice[1] == 1)) observations.push_back(one);
  }
  const Insight insight = learn(space, observations);
  const ValueInsight& untried = value_of(insight, 0, 3);
  EXPECT_GT(untried.runs, 0U);
  EXPECT_FALSE(untried.effect);
  EXPECT_TRUE(untried.is_allowed_in_winner);
  const std::string text = insight_text(space, insight);
  EXPECT_THAT(text, HasSubstr("      3: not tried near the winner (4 runs"));
  EXPECT_THAT(text, testing::Not(HasSubstr("surely")));
  const auto json = nlohmann::json::parse(insight_json(space, insight));
  for (const auto& one : json["knobs"]) {
    for (const auto& value : one["values"]) {
      EXPECT_EQ(value.contains("effect_percent"), value["pairs"] > 0) << value.dump();
    }
  }
}

TEST(Insight, TheWinnerIsTheOneThatIsGiven) {
  const RecordedSpace space = known_space();
  const std::vector<Observation> all = observe_all(space, 0, 1);
  const Candidate second{{1, 0, 0, 0}};
  const Insight insight = learn(space, all, second);
  EXPECT_EQ(insight.best, second);
  const PairEffect& back = *value_of(insight, 0, 0).effect;
  EXPECT_EQ(back.verdict(), PairVerdict::kFaster);
  EXPECT_GT(back.high, 0) << "P0 = 0 is slower than P0 = 1 if P3 = 1";
}

TEST(Insight, ImportanceNearTheWinnerNeedsEnoughCandidatesThere) {
  const RecordedSpace space = known_space();
  const std::vector<Observation> all = observe_all(space, 0, 1);
  const Insight many = learn(space, all);
  EXPECT_EQ(many.near_runs, 48U);
  ASSERT_TRUE(many.near_explained);
  double sum = 0;
  for (const KnobInsight& one : many.knobs) sum += *one.near_importance;
  EXPECT_NEAR(sum, *many.near_explained, 0.05)
      << "the importances of all macros add up to the share of variance that the model explains";
  const Insight few = learn(space, std::span(all).first(19));
  EXPECT_LT(few.near_runs, 20U);
  EXPECT_FALSE(few.near_explained);
  EXPECT_FALSE(few.knobs.front().near_importance);
  EXPECT_THAT(insight_text(space, few), HasSubstr("too few for this figure"));
}

/// The statements of the insight report about a macro's value hold even in a space with many
/// interactions.
TEST(Insight, ClaimsOfASearchHoldInTheWinner) {
  const RecordedSpace space = bumpy_space();
  std::size_t held = 0;
  std::size_t broken = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const auto strategy = make_strategy("genetic", space, {.seed = seed});
    std::vector<Observation> seen;
    while (seen.size() < 160) {
      std::vector<Observation> batch;
      for (const Candidate& candidate : strategy->propose(8)) {
        const RecordedEntry& entry = space.entry(candidate);
        if (entry.time_ms) {
          batch.push_back({candidate, 1e3 * *entry.time_ms, {}});
        } else {
          batch.push_back({candidate, {}, Gate::kResource});
        }
      }
      strategy->observe(batch);
      seen.insert(seen.end(), batch.begin(), batch.end());
    }
    const Insight insight = learn(space, seen);
    for (const KnobInsight& one : insight.knobs) {
      for (const ValueInsight& value : one.values) {
        if (!value.effect || !value.is_allowed_in_winner) continue;
        Candidate changed = *insight.best;
        changed.choice[value.parameter] = static_cast<std::uint16_t>(value.value);
        const std::optional<double>& truth_ms = space.entry(changed).time_ms;
        if (!truth_ms) continue;
        const double truth = std::log(1e3 * *truth_ms / insight.best_us);
        const bool is_claimed = value.effect->verdict() != PairVerdict::kUntried;
        const bool is_held = value.effect->verdict() == PairVerdict::kSlower ? truth > 0
                             : value.effect->verdict() == PairVerdict::kFaster
                                 ? truth < 0
                                 : std::abs(truth) < 2 * kSameTime;
        (is_held ? held : broken) += is_claimed ? 1 : 0;
      }
    }
  }
  EXPECT_GT(held, 100U);
  EXPECT_EQ(broken, 0U);
}

TEST(Insight, RendersNames) {
  const RecordedSpace space = known_space();
  const Insight insight = learn(space, observe_all(space, 0, 1));
  const std::string text = insight_text(space, insight);
  EXPECT_THAT(text, HasSubstr("72 evaluations, 24 failed"));
  EXPECT_THAT(text, HasSubstr("P2 2: 24 at the resource gate"));
  EXPECT_THAT(text, HasSubstr("with P3 1: -23.1 % (6 squares)")) << text;
  EXPECT_THAT(text, HasSubstr("      0: the winner's (12 runs"));
  const auto json = nlohmann::json::parse(insight_json(space, insight));
  EXPECT_EQ(json["only_failed"][0]["macro"], "P2");
  EXPECT_EQ(json["only_failed"][0]["failures"]["resource"], 24);
  EXPECT_EQ(json["knobs"].size(), 4U);
}

TEST(Insight, SaysLittleOfLittle) {
  const RecordedSpace space = known_space();
  const Insight nothing = learn(space, {});
  EXPECT_FALSE(nothing.best);
  EXPECT_TRUE(nothing.knobs.empty());
  EXPECT_THAT(insight_text(space, nothing), HasSubstr("0 evaluations"));
  const std::vector<Observation> one = {{*space.at_rank(5), 10.0, {}}};
  const Insight single = learn(space, one);
  EXPECT_TRUE(single.negatives.empty());
  EXPECT_TRUE(single.interactions.empty());
}

}  // namespace
}  // namespace evo
