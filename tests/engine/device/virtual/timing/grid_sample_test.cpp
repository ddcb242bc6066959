#include "engine/device/virtual/timing/grid_sample.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

namespace evo::ptx {
namespace {

using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::Le;
using testing::SizeIs;

/// A fake execution of CTAs: work(cta) is the number of instructions of a CTA.
template <typename Work>
ExecuteCtas executor(Work work) {
  return [work](std::vector<std::uint64_t> ctas) -> std::variant<GridCounts, Fault> {
    GridCounts counts;
    for (const std::uint64_t cta : ctas) {
      const std::uint64_t executed = work(cta);
      CtaCounts one;
      one.ctas = 1;
      one.warp_instructions = executed;
      one.all_work = executed;
      counts += GridCounts{
          one, {{work_level(executed), one}}, {{cta, executed}}, {{cta, executed, executed}}};
    }
    return counts;
  };
}

GridKinds kinds_of(std::uint64_t ctas, const ExecuteCtas& execute, bool surveyed = true) {
  GridToSample grid{.ctas = ctas, .seed = 5, .execute = execute};
  if (surveyed) grid.survey = std::make_shared<const GridSurvey>(*survey_grid(ctas, 5, 1, execute));
  return kinds_of_grid(std::get<ExecutedGrid>(execute_sample(grid)), 4, 2);
}

TEST(CtaDraw, DrawsEachCtaOnceFirstAndLastFirst) {
  CtaDraw draw(1000, 3);
  auto first = draw.next(8);
  EXPECT_THAT(first, SizeIs(8));
  EXPECT_EQ(first.front(), 0U);
  EXPECT_EQ(first.back(), 999U);
  EXPECT_NE(first, CtaDraw(1000, 4).next(8));
  std::set<std::uint64_t> all(first.begin(), first.end());
  for (const std::uint64_t count : {64, 500, 5000}) {
    for (const std::uint64_t cta : draw.next(count)) EXPECT_TRUE(all.insert(cta).second) << cta;
  }
  EXPECT_EQ(all.size(), 1000U);
  EXPECT_THAT(CtaDraw(1, 3).next(8), ElementsAre(0));
}

TEST(ExecuteSample, EightCtasStandForAGridOfEquals) {
  std::uint64_t executed = 0;
  const auto grid = execute_sample({.ctas = 5000, .execute = executor([&](std::uint64_t) {
                                                    ++executed;
                                                    return 1000U;
                                                  })});
  EXPECT_EQ(executed, 8U);
  EXPECT_THAT(kinds_of_grid(std::get<ExecutedGrid>(grid), 4, 2).shares, ElementsAre(1.0));
}

TEST(ExecuteSample, AGridThatDiffersIsExecutedAsFarAsTheWorkAllows) {
  const auto work = [](std::uint64_t cta) { return 100 + 20 * cta; };
  const auto all = execute_sample({.ctas = 300, .execute = executor(work)});
  EXPECT_EQ(std::get<ExecutedGrid>(all).counts.ctas, 300U);
  const auto some = execute_sample({.ctas = 300, .execute = executor(work), .most_work = 150'000});
  EXPECT_GT(std::get<ExecutedGrid>(some).counts.ctas, 8U);
  EXPECT_LT(std::get<ExecutedGrid>(some).counts.ctas, 100U);
}

TEST(ExecuteSample, ASurveyFindsTheOneCtaThatDiffers) {
  for (const std::uint64_t heavy : {0U, 1U, 77U, 511U}) {
    const auto kinds =
        kinds_of(512, executor([&](std::uint64_t cta) { return cta == heavy ? 90'000U : 100U; }));
    ASSERT_THAT(kinds.shares, SizeIs(2));
    EXPECT_NEAR(kinds.shares[1], 1.0 / 512, 1e-9);
    EXPECT_THAT(kinds.last_sm.kinds, Contains(1));
    EXPECT_EQ(kinds.last_sm.last, 1);
    EXPECT_LT(kinds.last_sm.last_start, 0.1);
  }
}

TEST(ExecuteSample, OfManyGroupsSixteenAreExecuted) {
  std::set<std::uint64_t> executed;
  const ExecuteCtas slice = executor([](std::uint64_t cta) { return 10 + cta; });
  GridToSample grid{.ctas = 4000,
                    .execute = executor([&](std::uint64_t cta) {
                      executed.insert(cta);
                      return 1000 + 100 * cta;
                    }),
                    .survey = std::make_shared<const GridSurvey>(*survey_grid(4000, 1, 1, slice))};
  const auto result = execute_sample(grid);
  EXPECT_THAT(executed, SizeIs(16));
  EXPECT_THAT(executed, Contains(3999));
  const auto kinds = kinds_of_grid(std::get<ExecutedGrid>(result), 4, 2);
  EXPECT_NEAR(std::accumulate(kinds.shares.begin(), kinds.shares.end(), 0.0), 1, 1e-9);
  EXPECT_THAT(kinds.shares, Each(Le(0.15)));
}

TEST(SurveyGrid, LooksAtAPartOfAGridThatIsTooLarge) {
  const auto survey = survey_grid(10'000'000, 1, 8, executor([](std::uint64_t) { return 1000U; }));
  ASSERT_TRUE(survey);
  EXPECT_GT(survey->ctas(), 1000U);
  EXPECT_LT(survey->ctas(), 10'000U);
  EXPECT_FALSE(survey_grid(10, 1, 8, [](const std::vector<std::uint64_t>&) {
    return std::variant<GridCounts, Fault>(Fault{.reason = "it reads what it writes"});
  }));
}

/// Classifies the CTAs of a grid by their work, for a GPU of 4 SMs that hold 2 CTAs each; all CTAs
/// are executed. `by_arrival`: see ExecutedGrid.
GridKinds kinds_of_all(std::uint64_t ctas, const ExecuteCtas& execute, bool by_arrival) {
  std::vector<std::uint64_t> all(ctas);
  std::iota(all.begin(), all.end(), 0);
  const ExecutedGrid grid{.counts = std::get<GridCounts>(execute(all)),
                          .ctas = ctas,
                          .is_certain = true,
                          .by_arrival = by_arrival};
  return kinds_of_grid(grid, 4, 2);
}

TEST(KindsOfGrid, WhereArrivalDecidesEverySmGetsItsShareOfEachKind) {
  const auto merging = executor([](std::uint64_t cta) { return cta % 4 == 3 ? 1000U : 100U; });
  // If CTAs are assigned to SMs by index alone, one of the four SMs gets both of the grid's long
  // CTAs.
  EXPECT_THAT(kinds_of_all(8, merging, false).last_sm.kinds, ElementsAre(1, 1));
  const auto kinds = kinds_of_all(8, merging, true);
  EXPECT_THAT(kinds.shares, ElementsAre(0.75, 0.25));
  EXPECT_THAT(kinds.last_sm.kinds, ElementsAre(1, 0));
}

TEST(KindsOfGrid, WhereArrivalDecidesTheSlowestSmGetsTheRareKind) {
  for (const std::uint64_t ctas : {3U, 16U, 1000U, 500'000U}) {
    const auto rare = executor([](std::uint64_t cta) { return cta == 1 ? 90'000U : 100U; });
    const auto kinds = kinds_of_all(ctas, rare, true);
    EXPECT_EQ(std::ranges::count(kinds.last_sm.kinds, 1), 1) << ctas;
    // In a large grid with one long CTA, the short CTAs of an SM together take longer than the long
    // CTA.
    EXPECT_EQ(kinds.last_sm.last, ctas > 1000 ? 0 : 1) << ctas;
    EXPECT_NEAR(static_cast<double>(kinds.last_sm.kinds.size()) * kinds.last_sm.each,
                std::ceil(static_cast<double>(ctas) / 4), 1e-6);
  }
}

TEST(KindsOfGrid, TheSmThatEndsLastHasTheLongestQueue) {
  // The 4 SMs hold eight CTAs, so the ninth CTA, which is long, starts when the first short CTA has
  // ended.
  const auto kinds =
      kinds_of(16, executor([](std::uint64_t cta) { return cta == 8 ? 1000U : 100U; }));
  EXPECT_EQ(kinds.last_sm.last, 1);
  EXPECT_NEAR(kinds.last_sm.last_start, 100.0 / 1100, 1e-9);
  EXPECT_THAT(kinds.last_sm.kinds, Contains(1));
}

}  // namespace
}  // namespace evo::ptx
