#include "engine/evolve/shortlist.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "engine/evolve/replay.hpp"
#include "tests/engine/evolve/made_spaces.hpp"

namespace evo {
namespace {

Candidate at(const RecordedSpace& space, std::uint64_t rank) { return *space.at_rank(rank); }

/// As a run with predictions `predicted` and times `measured` of each rank, until `proposals` are
/// made. Which ranks were measured, in their order.
template <typename Predicted, typename Measured>
std::vector<std::uint64_t> run(Shortlist& shortlist, const RecordedSpace& space,
                               std::size_t proposals, Predicted predicted, Measured measured) {
  std::vector<std::uint64_t> taken;
  const auto rank_of = [&](const Candidate& candidate) {
    std::uint64_t rank = 0;
    while (at(space, rank).choice != candidate.choice) ++rank;
    return rank;
  };
  for (std::uint64_t rank = 0; rank < proposals; ++rank) {
    while (const auto back = shortlist.take_due()) {
      taken.push_back(rank_of(*back));
      shortlist.learn_returned(*back, measured(taken.back()));
    }
    if (shortlist.measures_next()) {
      taken.push_back(rank);
      shortlist.learn(at(space, rank), predicted(rank), measured(rank));
    } else {
      shortlist.wait(at(space, rank), predicted(rank));
    }
  }
  return taken;
}

double mixed(std::uint64_t rank) { return 1 + static_cast<double>(mix_seed(rank, 3) % 1000); }

TEST(Shortlist, OneOfSoManyProposalsIsMeasured) {
  const RecordedSpace space = bumpy_space();
  for (const std::size_t n : {2U, 4U, 8U}) {
    Shortlist shortlist(space, {.proposals = n});
    const auto taken = run(shortlist, space, 800, mixed, mixed);
    EXPECT_NEAR(static_cast<double>(taken.size()), 800.0 / static_cast<double>(n), 15) << n;
    EXPECT_EQ(std::set(taken.begin(), taken.end()).size(), taken.size()) << "each once";
    EXPECT_EQ(taken.size() + shortlist.waiting(), 800U) << "nothing is lost";
    EXPECT_TRUE(shortlist.is_on());
    EXPECT_DOUBLE_EQ(*shortlist.rank_correlation(), 1);
  }
}

TEST(Shortlist, TheFastestOfThoseThatWaitAreTakenFirst) {
  const RecordedSpace space = bumpy_space();
  Shortlist shortlist(space, {.proposals = 4});
  const auto taken = run(shortlist, space, 400, mixed, mixed);
  double sum = 0;
  for (const std::uint64_t rank : taken) sum += mixed(rank);
  EXPECT_LT(sum / static_cast<double>(taken.size()), 300) << "of all 400 the mean is 500";
}

TEST(Shortlist, LearnsWhichValuesArePredictedWrong) {
  // The first parameter doubles the time, and no prediction knows that.
  const RecordedSpace space = made_space(
      {2, 200}, [](const Candidate&) { return true; }, [](const Candidate&) { return false; },
      [](const Candidate&) { return 1.0; });
  const auto measured = [&](std::uint64_t rank) {
    return mixed(rank) * (at(space, rank).choice[0] == 1 ? 4 : 1);
  };
  Shortlist shortlist(space, {.proposals = 4});
  const auto taken = run(shortlist, space, 300, mixed, measured);
  std::size_t slow = 0;
  const std::size_t half = taken.size() / 2;
  for (std::size_t i = half; i < taken.size(); ++i) slow += at(space, taken[i]).choice[0];
  EXPECT_LT(3 * slow, taken.size() - half) << "half of them without what was learned";
}

TEST(Shortlist, PredictionsThatDoNotRankAreNotUsed) {
  const RecordedSpace space = bumpy_space();
  const auto unrelated = [](std::uint64_t rank) { return mixed(rank + 100000); };
  const auto turned = [](std::uint64_t rank) { return 1001 - mixed(rank); };
  Shortlist of_noise(space, {.proposals = 4});
  EXPECT_GT(run(of_noise, space, 400, mixed, unrelated).size(), 300U);
  Shortlist shortlist(space, {.proposals = 4});
  const auto taken = run(shortlist, space, 400, mixed, turned);
  EXPECT_GT(taken.size(), 390U);
  EXPECT_FALSE(shortlist.is_on());
  EXPECT_DOUBLE_EQ(*shortlist.rank_correlation(), -1);
}

TEST(Shortlist, SameCallsSameChoices) {
  const RecordedSpace space = bumpy_space();
  std::vector<std::vector<std::uint64_t>> taken;
  for (const std::uint64_t seed : {5U, 5U, 6U}) {
    Shortlist shortlist(space, {.proposals = 4, .seed = seed});
    taken.push_back(run(shortlist, space, 300, mixed, mixed));
  }
  EXPECT_EQ(taken[0], taken[1]);
  EXPECT_NE(taken[0], taken[2]);
}

}  // namespace
}  // namespace evo
