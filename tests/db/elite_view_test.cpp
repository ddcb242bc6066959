// Tests the views of the database as a user of the sqlite3 shell reads them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "db/connection.hpp"
#include "db/store.hpp"
#include "engine/core/json_reader.hpp"
#include "tests/db/sample.hpp"

namespace evo {
namespace {

using testing::ElementsAre;

/// All rows of a query, with columns joined by '|', as the sqlite3 shell prints them.
std::vector<std::string> rows(const Store& store, const std::string& sql) {
  SQLite::Statement statement(store.connection().database(), sql);
  std::vector<std::string> lines;
  while (statement.executeStep()) {
    std::string line;
    for (int column = 0; column < statement.getColumnCount(); ++column) {
      line += (column == 0 ? "" : "|") + statement.getColumn(column).getString();
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

class EliteView : public testing::Test {
 protected:
  CandidateId add_green(RunId run, int generation, int position, const std::string& kernel,
                        double p50_us, TimeKind kind = TimeKind::kMeasured) {
    const CompilationId id = store_.put_compilation(sample::compilation(kernel));
    return store_.record_evaluation(run, sample::green(generation, position, id, p50_us, kind));
  }

  Store store_ = Store::in_memory();
  RunId run_ = store_.start_run(sample::run_info());
};

TEST_F(EliteView, HasTheColumnsAPersonAsksFor) {
  const CandidateId best = add_green(run_, 0, 0, "a", 10);
  store_.record_generation(run_, {.number = 0, .elite = {best}});
  SQLite::Statement statement(store_.connection().database(), "SELECT * FROM elite");
  std::string names;
  for (int i = 0; i < statement.getColumnCount(); ++i)
    names += std::string(statement.getColumnName(i)) + " ";
  EXPECT_EQ(
      names,
      "rank run device shape p50_us p90_us tflops registers shared_bytes max_abs_error config "
      "kind candidate ");
  // 2e9 FLOP in 10 µs are 200 TFLOP/s; 1024 static and 4096 dynamic bytes of shared memory are
  // 5120; 0.002 is the largest error of the two checks.
  EXPECT_THAT(rows(store_, "SELECT * FROM elite"),
              ElementsAre("1|1|NVIDIA H200|mission|10.0|11.0|200.0|96|5120|0.002|"
                          "{\"SWIZZLE\":\"xor\",\"TILE\":0}|measured|1"));
  EXPECT_THAT(rows(store_, "SELECT json_extract(config, '$.TILE') FROM elite"), ElementsAre("0"));
}

TEST_F(EliteView, FollowsTheRunsOwnRankingOfItsLatestGeneration) {
  const CandidateId a = add_green(run_, 0, 0, "a", 10.0);
  const CandidateId b = add_green(run_, 0, 1, "b", 10.1);
  store_.record_generation(run_, {.number = 0, .elite = {a, b}});
  // The elite ranks b before a, although the stored time of a is shorter.
  store_.record_generation(run_, {.number = 1, .elite = {b, a}});
  EXPECT_THAT(rows(store_, "SELECT rank, candidate FROM elite"),
              ElementsAre("1|" + std::to_string(b), "2|" + std::to_string(a)));
  EXPECT_THAT(rows(store_, "SELECT p50_us FROM elite_member WHERE generation = 1 ORDER BY rank"),
              ElementsAre("10.1", "10.0"));
}

TEST_F(EliteView, BeforeTheFirstGenerationEndsRanksDistinctKernelsByP50) {
  add_green(run_, 0, 0, "a", 12);
  add_green(run_, 0, 1, "b", 10);
  add_green(run_, 0, 2, "b", 9.5);  // The same PTX again, with another launch geometry.
  add_green(run_, 0, 3, "c", 11);
  add_green(run_, 0, 4, "d", 13);
  EvaluationRecord early = sample::green(0, 5, 1, 1);
  early.timing->complete = false;
  store_.record_evaluation(run_, early);
  EXPECT_THAT(rows(store_, "SELECT rank, p50_us FROM elite"),
              ElementsAre("1|9.5", "2|11.0", "3|12.0"));
}

TEST_F(EliteView, IsEmptyWhenNothingIsGreen) {
  store_.record_evaluation(run_, sample::rejected(0, 0, {.gate = Gate::kBuild, .reason = "no"}));
  EXPECT_TRUE(rows(store_, "SELECT * FROM elite").empty());
  store_.record_generation(run_, {.number = 0});
  EXPECT_TRUE(rows(store_, "SELECT * FROM elite").empty());
}

TEST_F(EliteView, LeavesOutWhatTheTimingGateRejected) {
  EvaluationRecord record =
      sample::green(0, 0, store_.put_compilation(sample::compilation("a")), 0.001);
  record.rejection = Rejection{.gate = Gate::kTiming, .reason = "faster than physics"};
  store_.record_evaluation(run_, record);
  EXPECT_TRUE(rows(store_, "SELECT * FROM elite").empty());
  EXPECT_THAT(rows(store_, "SELECT outcome, p50_us, gate FROM evaluation"),
              ElementsAre("rejected|0.001|timing"));
}

TEST_F(EliteView, NeverMixesPredictedWithMeasured) {
  const RunId predicted = store_.start_run(sample::run_info(TimeKind::kPredicted));
  add_green(run_, 0, 0, "a", 10);
  add_green(predicted, 0, 0, "a", 5, TimeKind::kPredicted);
  EXPECT_THAT(rows(store_, "SELECT rank, run, kind, p50_us FROM elite"),
              ElementsAre("1|1|measured|10.0", "1|2|predicted|5.0"));
}

TEST_F(EliteView, EvaluationShowsEveryOutcome) {
  const CandidateId first = add_green(run_, 0, 0, "a", 10);
  store_.record_evaluation(run_, sample::duplicate(0, 1, first));
  store_.record_evaluation(run_,
                           sample::rejected(0, 2, {.gate = Gate::kCorrectness, .reason = "wrong"}));
  EXPECT_THAT(
      rows(store_, "SELECT outcome, p50_us, gate, duplicate_of FROM evaluation ORDER BY position"),
      ElementsAre("green|10.0||", "green|10.0||1", "rejected||correctness|"));
}

TEST_F(EliteView, AWithdrawnCandidateIsNeitherGreenNorInTheElite) {
  const CandidateId first = add_green(run_, 0, 0, "a", 10);
  const CandidateId second = add_green(run_, 0, 1, "b", 11);
  store_.record_evaluation(run_, sample::duplicate(0, 2, first));
  const auto withdraw = [&] {
    store_.record_withdrawal(run_, {first, 1, {Gate::kCorrectness, "faulted in a pair"}});
  };
  const std::vector<std::string> others = {"1|" + std::to_string(second)};
  withdraw();
  EXPECT_EQ(rows(store_, "SELECT rank, candidate FROM elite"), others)
      << "before the first generation ends";
  store_.record_generation(run_, {.number = 0, .elite = {first, second}});
  EXPECT_EQ(rows(store_, "SELECT rank, candidate FROM elite"), others);
  EXPECT_THAT(
      rows(store_, "SELECT outcome, p50_us, gate, reason FROM evaluation ORDER BY position"),
      ElementsAre("withdrawn|10.0|correctness|faulted in a pair", "green|11.0||",
                  "withdrawn|10.0|correctness|faulted in a pair"));
}

TEST_F(EliteView, TheDocumentedQueriesRun) {
  const std::string page = read_text_file(EVO_SOURCE_DIR "/docs/database.md");
  const std::string fence = "```sql\n";
  const std::size_t begin = page.find(fence) + fence.size();
  std::istringstream text(page.substr(begin, page.find("```", begin) - begin));
  int queries = 0;
  for (std::string sql; std::getline(text, sql, ';');) {
    if (sql.find("SELECT") == std::string::npos) continue;
    EXPECT_NO_THROW(rows(store_, sql)) << sql;
    ++queries;
  }
  EXPECT_GE(queries, 4);
}

}  // namespace
}  // namespace evo
