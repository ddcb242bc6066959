#include "engine/evolve/strategy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "engine/core/error.hpp"
#include "engine/study/replay.hpp"
#include "tests/engine/study/made_spaces.hpp"

namespace evo {
namespace {

Observation look_up(const RecordedSpace& space, const Candidate& candidate) {
  const RecordedEntry& entry = space.entry(candidate);
  Observation observation{candidate};
  if (entry.time_ms) {
    observation.time_us = *entry.time_ms * 1e3;
  } else {
    observation.failed_at = Gate::kTiming;
  }
  return observation;
}

/// Returns the proposals of `generations` generations, and checks that each is valid and new.
std::vector<Candidate> proposals_of(const RecordedSpace& space, Strategy& strategy, int generations,
                                    std::size_t batch) {
  std::vector<Candidate> all;
  std::set<Candidate> seen;
  for (int g = 0; g < generations; ++g) {
    std::vector<Observation> observations;
    const std::vector<Candidate> proposals = strategy.propose(batch);
    EXPECT_LE(proposals.size(), batch);
    for (const Candidate& candidate : proposals) {
      EXPECT_TRUE(space.is_valid(candidate));
      EXPECT_TRUE(seen.insert(candidate).second) << "a candidate was proposed twice";
      all.push_back(candidate);
      observations.push_back(look_up(space, candidate));
    }
    strategy.observe(observations);
  }
  return all;
}

class EveryStrategy : public testing::TestWithParam<std::string_view> {
 protected:
  std::unique_ptr<Strategy> make(const CandidateSpace& space, std::uint64_t seed = 1) {
    return make_strategy(GetParam(), space, {.elite_size = 3, .seed = seed});
  }
};

TEST_P(EveryStrategy, ProposesValidNewCandidatesUntilTheSpaceIsExhausted) {
  const RecordedSpace space = bumpy_space();
  for (const std::size_t batch : {1U, 8U, 13U}) {
    // The strategy "full" with a batch of 1 is skipped, because it tests the same code as other
    // batches, and takes a minute under sanitizers.
    if (batch == 1 && GetParam() == "full") continue;
    const auto strategy = make(space);
    const auto all = proposals_of(space, *strategy, 5000 / static_cast<int>(batch), batch);
    EXPECT_EQ(all.size(), space.rank_count());
    EXPECT_TRUE(strategy->propose(8).empty());
  }
}

TEST_P(EveryStrategy, SameSeedSameProposals) {
  const RecordedSpace space = bumpy_space();
  const auto first = proposals_of(space, *make(space, 7), 20, 8);
  EXPECT_EQ(proposals_of(space, *make(space, 7), 20, 8), first);
  if (GetParam() != "exhaustive") {
    EXPECT_NE(proposals_of(space, *make(space, 8), 20, 8), first);
  }
}

TEST_P(EveryStrategy, ResumesByRepeatingTheCalls) {
  const RecordedSpace space = bumpy_space();
  const auto straight = proposals_of(space, *make(space, 3), 25, 8);
  const auto resumed = make(space, 3);
  auto all = proposals_of(space, *resumed, 12, 8);  // the recorded part of the run
  std::set<Candidate> before(all.begin(), all.end());
  for (const Candidate& candidate : proposals_of(space, *resumed, 13, 8)) {
    EXPECT_TRUE(before.insert(candidate).second);
    all.push_back(candidate);
  }
  EXPECT_EQ(all, straight);
}

TEST_P(EveryStrategy, NeverProposesWhatOthersObserved) {
  const RecordedSpace space = bumpy_space();
  const auto strategy = make(space);
  std::vector<Observation> milestones;
  for (std::uint64_t rank = 0; rank < 1000; ++rank) {
    milestones.push_back(look_up(space, *space.at_rank(rank)));
  }
  strategy->observe(milestones);
  const auto all = proposals_of(space, *strategy, 60, 8);
  EXPECT_EQ(all.size(), 480U);
  for (const Candidate& candidate : all) {
    for (const Observation& milestone : milestones) ASSERT_NE(candidate, milestone.candidate);
  }
}

TEST_P(EveryStrategy, CopesWithATinySpaceAndWithNothingThatRuns) {
  const RecordedSpace tiny = tiny_space();
  EXPECT_EQ(proposals_of(tiny, *make(tiny), 5, 8).size(), 3U);
  const RecordedSpace early_stop = made_space(
      {4, 4, 4}, [](const Candidate&) { return true; },
      [](const Candidate& c) { return c.choice[0] + c.choice[1] + c.choice[2] > 0; },
      [](const Candidate&) { return 1.0; });
  EXPECT_EQ(proposals_of(early_stop, *make(early_stop), 20, 8).size(), 64U);
}

TEST_P(EveryStrategy, KeepsGoingWhenAGenerationIsOnlyPartlyObserved) {
  const RecordedSpace space = bumpy_space();
  const auto strategy = make(space);
  std::set<Candidate> seen;
  for (int g = 0; g < 30; ++g) {
    const auto proposals = strategy->propose(8);
    std::vector<Observation> some;
    for (const Candidate& candidate : proposals) {
      EXPECT_TRUE(seen.insert(candidate).second);
      if (candidate.choice[0] % 2 == 0) some.push_back(look_up(space, candidate));
    }
    strategy->observe(some);
  }
  EXPECT_GT(seen.size(), 100U);
}

INSTANTIATE_TEST_SUITE_P(All, EveryStrategy, testing::ValuesIn(strategy_names()),
                         [](const auto& suite) { return std::string(suite.param); });

TEST(MakeStrategy, NamesTheKnownOnes) {
  const RecordedSpace space = tiny_space();
  try {
    (void)make_strategy("best", space, {});
    FAIL() << "make_strategy accepted an unknown name";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("'best'"));
    EXPECT_THAT(error.what(), testing::HasSubstr("full, free, insight, random, exhaustive"));
  }
}

TEST(Strategies, EvolvedOnesBeatRandom) {
  const RecordedSpace space = bumpy_space();
  const RandomBaseline baseline(space);
  for (const std::string_view name : strategy_names()) {
    if (name == "random" || name == "exhaustive") continue;
    double fraction = 0;
    constexpr int kRepeats = 40;
    for (std::uint64_t seed = 1; seed <= kRepeats; ++seed) {
      const auto strategy = make_strategy(name, space, {.elite_size = 3, .seed = seed});
      fraction += fraction_of_optimum(replay(space, *strategy, 100, 8), baseline, 100) / kRepeats;
    }
    EXPECT_GT(fraction, baseline.expected_fraction(100)) << name;
  }
}

}  // namespace
}  // namespace evo
