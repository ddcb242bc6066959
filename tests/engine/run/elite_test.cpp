#include "engine/run/elite.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "engine/core/random.hpp"

namespace evo {
namespace {

using testing::ElementsAre;

EliteMember member(CandidateId id, double p50_us) {
  EliteMember result;
  result.id = id;
  result.p50_us = p50_us;
  return result;
}

std::vector<CandidateId> ids(const Elite& elite) {
  std::vector<CandidateId> result;
  for (const EliteMember& entry : elite.members()) result.push_back(entry.id);
  return result;
}

ComparisonResult by_time(const EliteMember& challenger, const EliteMember& incumbent) {
  return challenger.p50_us < incumbent.p50_us ? ComparisonResult::kChallengerFaster
                                              : ComparisonResult::kIncumbentFaster;
}

ComparisonResult tie(const EliteMember&, const EliteMember&) { return ComparisonResult::kTie; }

ComparisonResult must_not_be_asked(const EliteMember&, const EliteMember&) {
  ADD_FAILURE() << "an A/B comparison was made without need";
  return ComparisonResult::kTie;
}

using Compare = std::function<ComparisonResult(const EliteMember&, const EliteMember&)>;

/// Lets a new kernel challenge the members of the elite by A/B comparisons. Returns true if the
/// elite changed.
bool consider(Elite& elite, EliteMember challenger, const Compare& compare) {
  const std::vector<CandidateId> before = ids(elite);
  Climb climb(elite, std::move(challenger));
  while (const EliteMember* incumbent = climb.next()) {
    climb.take(compare(climb.challenger(), *incumbent));
  }
  if (climb.may_enter()) climb.enter();
  return ids(elite) != before;
}

TEST(Elite, ChallengersClimbToWhereTheyBelong) {
  Elite elite(3);
  for (const auto& [id, time] : {std::pair(1, 10.0), std::pair(2, 8.0), std::pair(3, 9.0)}) {
    EXPECT_TRUE(consider(elite, member(id, time), by_time));
  }
  EXPECT_THAT(ids(elite), ElementsAre(2, 3, 1));
  EXPECT_TRUE(consider(elite, member(4, 7), by_time));
  EXPECT_THAT(ids(elite), ElementsAre(4, 2, 3));
}

TEST(Elite, ATieLeavesTheIncumbent) {
  Elite elite(2);
  consider(elite, member(1, 10), tie);
  EXPECT_TRUE(consider(elite, member(2, 9.9), tie));  // the elite has a free place
  EXPECT_THAT(ids(elite), ElementsAre(1, 2));
  EXPECT_FALSE(consider(elite, member(3, 9.8), tie));
  EXPECT_THAT(ids(elite), ElementsAre(1, 2));
}

TEST(Elite, TheConfirmationDecidesNotTheStoredTimes) {
  Elite elite(2);
  consider(elite, member(1, 10), tie);
  // The challenger seemed 1 % slower when timed separately, but is faster in the A/B comparison.
  const auto faster = [](const EliteMember&, const EliteMember&) {
    return ComparisonResult::kChallengerFaster;
  };
  EXPECT_TRUE(consider(elite, member(2, 10.1), faster));
  EXPECT_THAT(ids(elite), ElementsAre(2, 1));
}

TEST(Elite, SpendsNoComparisonWithoutAChance) {
  Elite elite(2);
  EXPECT_TRUE(consider(elite, member(1, 10), must_not_be_asked));
  EXPECT_TRUE(consider(elite, member(2, 10.3), must_not_be_asked));
  EXPECT_FALSE(consider(elite, member(3, 12), must_not_be_asked));
}

TEST(Elite, StopsClimbingAtTheFirstItDoesNotBeat) {
  Elite elite(3);
  elite.restore({member(1, 8), member(2, 9), member(3, 10)});
  int asked = 0;
  EXPECT_TRUE(
      consider(elite, member(4, 8.95), [&](const EliteMember&, const EliteMember& incumbent) {
        ++asked;
        return incumbent.id == 3 ? ComparisonResult::kChallengerFaster : ComparisonResult::kTie;
      }));
  EXPECT_EQ(asked, 2);
  EXPECT_THAT(ids(elite), ElementsAre(1, 2, 4));
}

TEST(Elite, GivesUpOnWhatIsSlowerThanTheLastOnceFull) {
  Elite elite(2);
  consider(elite, member(1, 10), by_time);
  EXPECT_EQ(elite.early_stop_us(), std::numeric_limits<double>::infinity());
  EXPECT_TRUE(elite.has_a_chance(1000));
  consider(elite, member(2, 15), by_time);
  EXPECT_EQ(elite.early_stop_us(), 15);
  EXPECT_TRUE(elite.has_a_chance(15.2));  // separate timings may drift so much
  EXPECT_FALSE(elite.has_a_chance(15.4));
}

TEST(Elite, LessIsWorthAComparisonIfLaunchesAreVeryLong) {
  Elite elite(1);
  consider(elite, member(1, 1e5), by_time);
  EXPECT_TRUE(elite.has_a_chance(1.005e5));
  EXPECT_FALSE(elite.has_a_chance(1.015e5));
  // If the objective is not the time, its value says nothing about the duration of a launch, so the
  // smaller margin for very long launches does not apply.
  EliteMember measured = member(1, 1e5);
  measured.objective = 2e4;
  elite.restore({measured});
  EXPECT_TRUE(elite.has_a_chance(2.03e4));
}

TEST(Elite, AnIncumbentThatFailsLeavesAndTheChallengerGoesOn) {
  Elite elite(3);
  elite.restore({member(1, 8), member(2, 9), member(3, 10)});
  std::vector<CandidateId> asked;
  EXPECT_TRUE(
      consider(elite, member(4, 8.1), [&](const EliteMember&, const EliteMember& incumbent) {
        asked.push_back(incumbent.id);
        return incumbent.id == 2 ? ComparisonResult::kIncumbentOut
                                 : ComparisonResult::kChallengerFaster;
      }));
  EXPECT_THAT(asked, ElementsAre(2, 3, 1));
  EXPECT_THAT(ids(elite), ElementsAre(4, 1, 3));
}

TEST(Elite, WhomItBeatsHasBeatenThoseBelow) {
  Elite elite(3);
  elite.restore({member(1, 8), member(2, 9), member(3, 10)});
  std::vector<CandidateId> asked;
  EXPECT_TRUE(consider(elite, member(4, 7), [&](const EliteMember&, const EliteMember& incumbent) {
    asked.push_back(incumbent.id);
    return ComparisonResult::kChallengerFaster;
  }));
  EXPECT_THAT(asked, ElementsAre(1));
  EXPECT_THAT(ids(elite), ElementsAre(4, 1, 2));
}

TEST(Elite, ComesDownUntilItBeatsOne) {
  Elite elite(4);
  elite.restore({member(1, 8), member(2, 9), member(3, 10), member(4, 11)});
  std::vector<CandidateId> asked;
  EXPECT_TRUE(consider(elite, member(5, 7), [&](const EliteMember&, const EliteMember& incumbent) {
    asked.push_back(incumbent.id);
    if (incumbent.id == 1) return ComparisonResult::kIncumbentFaster;
    return incumbent.id == 2 ? ComparisonResult::kTie : ComparisonResult::kChallengerFaster;
  }));
  EXPECT_THAT(asked, ElementsAre(1, 2, 3));
  EXPECT_THAT(ids(elite), ElementsAre(1, 2, 5, 3));
}

TEST(Elite, AChallengerThatFailsDoesNotEnterThoughThereIsRoom) {
  Elite elite(3);
  elite.restore({member(1, 8)});
  const auto out = [](ComparisonResult result) {
    return [result](const EliteMember&, const EliteMember&) { return result; };
  };
  EXPECT_FALSE(consider(elite, member(4, 7), out(ComparisonResult::kChallengerOut)));
  EXPECT_THAT(ids(elite), ElementsAre(1));
  EXPECT_TRUE(consider(elite, member(5, 7), out(ComparisonResult::kBothOut)));
  EXPECT_TRUE(elite.members().empty());
}

TEST(Elite, RemovesByName) {
  Elite elite(3);
  elite.restore({member(1, 8), member(2, 9), member(3, 10)});
  elite.remove(2);
  EXPECT_THAT(ids(elite), ElementsAre(1, 3));
}

/// If all A/B comparisons are right, the elite contains the best of all considered kernels, in
/// order.
TEST(Elite, HoldsTheBestOfAnySequence) {
  Random random(5);
  for (int round = 0; round < 200; ++round) {
    Elite elite(3);
    std::vector<std::pair<double, CandidateId>> all;
    for (CandidateId id = 0; id < 20; ++id) {
      const double time = 5 + 10 * random.uniform();
      all.emplace_back(time, id);
      consider(elite, member(id, time), by_time);
      ASSERT_LE(elite.members().size(), 3U);
    }
    std::sort(all.begin(), all.end());
    EXPECT_THAT(ids(elite), ElementsAre(all[0].second, all[1].second, all[2].second));
  }
}

}  // namespace
}  // namespace evo
