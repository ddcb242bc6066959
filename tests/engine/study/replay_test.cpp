#include "engine/study/replay.hpp"

#include <gtest/gtest.h>

#include "engine/core/error.hpp"
#include "tests/engine/space/replay_files.hpp"
#include "tests/engine/study/made_spaces.hpp"

namespace evo {
namespace {

/// A strategy that proposes the given candidates in order.
class Script final : public Strategy {
 public:
  explicit Script(std::vector<Candidate> list) : list_(std::move(list)) {}
  std::vector<Candidate> propose(std::size_t count) override {
    std::vector<Candidate> proposals;
    while (proposals.size() < count && next_ < list_.size()) proposals.push_back(list_[next_++]);
    return proposals;
  }
  void observe(std::span<const Observation> observations) override {
    for (const Observation& observation : observations) seen.push_back(observation);
  }
  std::vector<Observation> seen;

 private:
  std::vector<Candidate> list_;
  std::size_t next_ = 0;
};

TEST(Replay, AFailureCostsAnEvaluationAndReturnsNothing) {
  const RecordedSpace space = tiny_space();  // 1 ms, fails, 3 ms
  Script script({Candidate{{1, 0}}, Candidate{{2, 0}}, Candidate{{0, 0}}});
  const ReplayTrace trace = replay(space, script, 10, 1);
  ASSERT_EQ(trace.best_ms.size(), 3U);
  EXPECT_EQ(trace.best_ms[0], std::numeric_limits<double>::infinity());
  EXPECT_EQ(trace.best_ms[1], 3);
  EXPECT_EQ(trace.best_ms[2], 1);
  EXPECT_EQ(trace.failed, (std::vector<bool>{true, false, false}));
  EXPECT_EQ(script.seen[0].failed_at, Gate::kTiming);
  EXPECT_EQ(script.seen[0].time_us, std::nullopt);
  EXPECT_EQ(script.seen[1].time_us, 3000);
}

TEST(Replay, RefusesRepeatedAndInvalidProposals) {
  const RecordedSpace space = tiny_space();
  Script twice({Candidate{{1, 0}}, Candidate{{1, 0}}});
  EXPECT_THROW((void)replay(space, twice, 10, 8), Error);
  Script invalid({Candidate{{9, 0}}});
  EXPECT_THROW((void)replay(space, invalid, 10, 8), Error);
}

TEST(Replay, KeepsToTheBudget) {
  const RecordedSpace space = bumpy_space();
  const auto strategy = make_strategy("random", space, {});
  EXPECT_EQ(replay(space, *strategy, 21, 8).best_ms.size(), 21U);
}

TEST(RandomBaseline, ExpectationAgreesWithSimulation) {
  const RecordedSpace space = bumpy_space();
  const RandomBaseline baseline(space);
  for (const std::size_t n : {1U, 5U, 25U, 100U}) {
    double mean = 0;
    constexpr int kRuns = 10000;
    for (std::uint64_t seed = 0; seed < kRuns; ++seed) {
      const auto strategy =
          make_strategy("random", space, {.elite_size = 3, .seed = mix_seed(1, seed)});
      mean += fraction_of_optimum(replay(space, *strategy, n, 8), baseline, n) / kRuns;
    }
    EXPECT_NEAR(baseline.expected_fraction(n), mean, 0.01) << n;
  }
  EXPECT_DOUBLE_EQ(baseline.expected_fraction(space.rank_count()), 1);
}

TEST(RandomBaseline, TimeFollowsTheMethodology) {
  // The space has N = 10 candidates, which take 1 to 10 ms. After M evaluations, the baseline is
  // the time at the 1-based index round(M · 11 / (M + 1)) of the list from slowest to fastest. For
  // M = 1, the index is 6, and the time 5 ms.
  const RecordedSpace space = made_space(
      {10}, [](const Candidate&) { return true; }, [](const Candidate&) { return false; },
      [](const Candidate& c) { return 1.0 + c.choice[0]; });
  const RandomBaseline baseline(space);
  EXPECT_EQ(baseline.time_ms(1), 5);
  EXPECT_EQ(baseline.time_ms(3), 3);   // round(33 / 4) = 8
  EXPECT_EQ(baseline.time_ms(10), 1);  // round(110 / 11) = 10
  // The target is 1 + 0.05 (6 − 1) ms, where 6 ms, the larger of the two middle times, counts as
  // the median. Only index 10 reaches the target, so the cutoff is 7, the smallest M for which M ·
  // 11 / (M + 1) ≥ 9.5, which rounds to 10.
  EXPECT_EQ(baseline.cutoff(), 7U);
}

TEST(MethodologyScore, IsOneForTheOptimumAndZeroForTheBaseline) {
  const RecordedSpace space = bumpy_space();
  const RandomBaseline baseline(space);
  ReplayTrace optimum;
  ReplayTrace random;
  for (std::size_t n = 1; n <= baseline.cutoff(); ++n) {
    optimum.best_ms.push_back(baseline.optimum_ms());
    random.best_ms.push_back(baseline.time_ms(n));
  }
  EXPECT_DOUBLE_EQ(methodology_score(optimum, baseline), 1);
  EXPECT_DOUBLE_EQ(methodology_score(random, baseline), 0);
}

TEST(Replay, ReproducesTheKnownExpectationOfRandomSearch) {
  if (replay_files().empty()) GTEST_SKIP() << "no recorded spaces: set EVO_REPLAY_DIR";
  if (replay_files().size() != 7)
    GTEST_SKIP() << "the expected figures belong to seven recorded spaces";
  const std::vector<std::pair<std::size_t, double>> known = {
      {25, .828}, {50, .868}, {100, .902}, {200, .930}, {400, .953}};
  std::vector<double> sums(known.size(), 0);
  for (const auto& file : replay_files()) {
    const RandomBaseline baseline{RecordedSpace(read_recording(file))};
    for (std::size_t i = 0; i < known.size(); ++i) {
      sums[i] += baseline.expected_fraction(known[i].first) / 7;
    }
  }
  for (std::size_t i = 0; i < known.size(); ++i) EXPECT_NEAR(sums[i], known[i].second, 0.0006);
}

}  // namespace
}  // namespace evo
