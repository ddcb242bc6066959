// Tests storing and reading the paths that lead from a configuration, step by step, to the winner
// of a run, and the winner's use of the GPU's units.

#include <gtest/gtest.h>

#include "db/connection.hpp"
#include "db/store.hpp"
#include "tests/db/sample.hpp"

namespace evo {
namespace {

WinnerWay way_from(const std::string& start, CandidateId winner) {
  return {.start = start,
          .winner = winner,
          .steps = {{.config_json = R"({"TILE":1})", .p50_us = 20},
                    {.config_json = R"({"TILE":2})",
                     .changes = {{"TILE", "1", "2"}, {"WAY", "up", "\"down\""}},
                     .p50_us = 10,
                     .ratio = 0.5,
                     .ratio_low = 0.49,
                     .ratio_high = 0.51,
                     .pairs = 60,
                     .note = "together"}}};
}

TEST(WinnerWays, AreReadBackAsTheyWereRecordedTheDefaultFirst) {
  Store store = Store::in_memory();
  const RunId run = store.start_run(sample::run_info());
  const CandidateId winner = store.record_evaluation(
      run, sample::green(0, 0, store.put_compilation(sample::compilation("a")), 10));
  store.record_generation(run, {.number = 0, .elite = {winner}});
  EXPECT_TRUE(store.winner_ways(run).empty());
  store.record_winner_ways(run, {way_from("baseline", winner), way_from("default", winner)});
  const std::vector<WinnerWay> ways = store.winner_ways(run);
  ASSERT_EQ(ways.size(), 2U);
  EXPECT_EQ(ways[0].start, "default");
  EXPECT_EQ(ways[1].start, "baseline");
  ASSERT_EQ(ways[0].steps.size(), 2U);
  const WinnerStep& step = ways[0].steps[1];
  EXPECT_EQ(step.changes, way_from("default", winner).steps[1].changes);
  EXPECT_EQ(step.config_json, R"({"TILE":2})");
  EXPECT_EQ(step.ratio_low, 0.49);
  EXPECT_EQ(step.pairs, 60);
  EXPECT_EQ(step.note, "together");
  store.record_winner_ways(run, {way_from("default", winner)});
  EXPECT_EQ(store.winner_ways(run).size(), 1U)
      << "record_winner_ways() must replace the paths that were stored before";
}

TEST(WinnerWays, OfAWinnerThatIsNoMoreAreLeftOut) {
  Store store = Store::in_memory();
  const RunId run = store.start_run(sample::run_info());
  const CandidateId first = store.record_evaluation(
      run, sample::green(0, 0, store.put_compilation(sample::compilation("a")), 10));
  const CandidateId second = store.record_evaluation(
      run, sample::green(0, 1, store.put_compilation(sample::compilation("b")), 9));
  store.record_generation(run, {.number = 0, .elite = {first}});
  store.record_winner_ways(run, {way_from("default", first)});
  EXPECT_EQ(store.winner_ways(run).size(), 1U);
  store.record_generation(run, {.number = 1, .elite = {second, first}});
  EXPECT_TRUE(store.winner_ways(run).empty());
}

TEST(WinnerUnits, AreThoseOfTheWinner) {
  Store store = Store::in_memory();
  const RunId run = store.start_run(sample::run_info());
  const CandidateId winner = store.record_evaluation(
      run, sample::green(0, 0, store.put_compilation(sample::compilation("a")), 10));
  const CandidateId other = store.record_evaluation(
      run, sample::green(0, 1, store.put_compilation(sample::compilation("b")), 11));
  store.record_generation(run, {.number = 0, .elite = {winner}});
  store.record_winner_units(run, winner, {{"tensor", 61.5}, {"dram", 0}});
  EXPECT_EQ(store.winner_units(run),
            (std::map<std::string, double>{{"tensor", 61.5}, {"dram", 0}}));
  store.record_winner_units(run, other, {{"tensor", 1}});
  EXPECT_TRUE(store.winner_units(run).empty());
}

TEST(WinnerWays, LeadToACandidateOfTheRun) {
  Store store = Store::in_memory();
  const CompilationId compilation = store.put_compilation(sample::compilation("a"));
  const RunId run = store.start_run(sample::run_info());
  const CandidateId winner = store.record_evaluation(run, sample::green(0, 0, compilation, 10));
  const RunId other = store.start_run(sample::run_info());
  EXPECT_ANY_THROW(store.record_winner_ways(other, {way_from("default", winner)}));
  EXPECT_TRUE(store.winner_ways(other).empty());
}

}  // namespace
}  // namespace evo
