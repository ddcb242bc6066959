// Tests that a damaged database is rejected with a DbError and never crashes a program.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <random>
#include <sstream>

#include "db/connection.hpp"
#include "db/queries.hpp"
#include "engine/core/error.hpp"
#include "tests/db/sample.hpp"

namespace evo {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class Damage : public testing::Test {
 protected:
  Damage() {
    Store store = Store::open(file_);
    const RunId run = store.start_run(sample::run_info());
    CandidateId best = 0;
    for (int i = 0; i < 6; ++i) {
      const CompilationId compilation =
          store.put_compilation(sample::compilation(std::to_string(i)));
      EvaluationRecord record = sample::green(0, i, compilation, 10 + i);
      record.milestone = "step " + std::to_string(i);
      const CandidateId id = store.record_evaluation(run, record);
      if (i == 0) best = id;
    }
    store.record_evaluation(run, sample::duplicate(0, 6, best));
    store.record_evaluation(run, sample::rejected(0, 7, {Gate::kBuild, "error: planted"}));
    store.record_generation(run, {.number = 0, .elite = {best, best + 1}});
    store.finish_run(run, RunStatus::kFinished);
  }

  /// The data that evo-elite shows (elites, milestones, rejections), with the cubins of the elites,
  /// as text. Throws DbError if the database is damaged.
  static std::string answers(const std::filesystem::path& file) {
    const Store store = Store::open_read_only(file);
    std::ostringstream text;
    text.precision(17);
    for (const RunElite& elite : elites(store, {})) {
      const RunInfo& info = elite.run.info;
      text << info.device.name << info.device.clock_mhz << info.space.text << info.problem.name
           << info.shape << info.seed << info.strategy << elite.run.started_at << '\n';
      for (const EliteRow& row : elite.rows) {
        text << row.rank << ' ' << row.device << row.shape << row.p50_us << ' ' << row.p90_us << ' '
             << row.tflops << ' ' << row.registers << ' ' << row.shared_bytes << ' '
             << row.max_abs_error.value_or(-1) << row.config_json << to_string(row.kind)
             << row.candidate << '\n';
        const EvaluationRecord evaluation = store.evaluation(row.candidate);
        text << store.compilation(*evaluation.compilation).cubin << '\n';
      }
    }
    for (const MilestoneResult& result : milestone_results(store, 1)) {
      text << result.evaluation.milestone << result.evaluation.id << ' '
           << result.p50_us.value_or(-1) << '\n';
    }
    const RejectionSummary summary = rejections(store, 1);
    text << summary.evaluated << ' ' << summary.green << ' ' << summary.rejected << ' '
         << summary.duplicates << '\n';
    for (const RejectionGroup& group : summary.groups) text << group.reason << group.count << '\n';
    return text.str();
  }

  void expect_damage_found(const std::string& sql, const std::string& what) const {
    const std::filesystem::path copy = folder_.path() / "copy.db";
    std::filesystem::copy_file(file_, copy, std::filesystem::copy_options::overwrite_existing);
    SQLite::Database(copy, SQLite::OPEN_READWRITE).exec(sql);
    try {
      (void)answers(copy);
      ADD_FAILURE() << "no DbError after " << sql;
    } catch (const DbError& error) {
      EXPECT_THAT(error.what(), AllOf(HasSubstr("copy.db: is damaged"), HasSubstr(what))) << sql;
    }
  }

  sample::TemporaryFolder folder_;
  std::filesystem::path file_ = folder_.path() / "evo.db";
};

TEST_F(Damage, OfATextIsFoundBeforeItIsShown) {
  const std::string cubin = "the cubin of compilation 2";
  expect_damage_found("UPDATE artifact SET cubin = x'00' WHERE compilation_id = 2", cubin);
  expect_damage_found("UPDATE artifact SET cubin = x'' WHERE compilation_id = 2", cubin);
  expect_damage_found("UPDATE artifact SET cubin = substr(cubin, 1, 12) WHERE compilation_id = 2",
                      cubin);
  expect_damage_found("UPDATE artifact SET ptx = ptx || x'00' WHERE compilation_id = 1",
                      "the PTX of compilation 1");
  expect_damage_found("UPDATE artifact SET log = 'plain' WHERE compilation_id = 1",
                      "the log of compilation 1");
  expect_damage_found("UPDATE source SET text = substr(text, 2)", "the source of compilation 1");
  expect_damage_found("DELETE FROM artifact WHERE compilation_id = 2",
                      "the artifacts of compilation 2 are missing");
}

TEST_F(Damage, OfAValueThatItsColumnForbidsIsFound) {
  const auto broken = [](const std::string& sql) {
    return "PRAGMA ignore_check_constraints = ON; " + sql;
  };
  expect_damage_found(broken("UPDATE timing SET p50_us = -9 WHERE candidate_id = 1"), "timing");
  expect_damage_found(broken("UPDATE timing SET kind = 'guessed' WHERE candidate_id = 1"),
                      "timing");
  expect_damage_found(broken("UPDATE candidate SET config = '{' WHERE id = 2"), "candidate");
  expect_damage_found(broken("UPDATE rejection SET gate = 'bild'"), "rejection");
}

TEST_F(Damage, OfTheSchemaIsFound) {
  expect_damage_found("DROP VIEW elite; CREATE VIEW elite AS SELECT * FROM evaluation", "'elite'");
  expect_damage_found("DROP TRIGGER timing_kind_is_the_devices", "timing_kind_is_the_devices");
  expect_damage_found("DROP TABLE event", "'event'");
}

TEST_F(Damage, WhatOthersAddIsTheirBusiness) {
  const std::string before = answers(file_);
  SQLite::Database(file_, SQLite::OPEN_READWRITE)
      .exec("CREATE VIEW mine AS SELECT * FROM elite; CREATE INDEX quick ON timing (p50_us)");
  EXPECT_EQ(answers(file_), before);
}

TEST_F(Damage, OfAnyByteEndsInAnAnswerOrAnErrorThatSaysSo) {
  std::ifstream stream(file_, std::ios::binary);
  const std::string good((std::istreambuf_iterator<char>(stream)), {});
  const std::filesystem::path copy = folder_.path() / "copy.db";
  std::mt19937_64 random(1);
  constexpr int kDamaged = 600;
  int noticed = 0;
  for (int i = 0; i < kDamaged; ++i) {
    std::string bad = good;
    const std::size_t at = random() % bad.size();
    bad[at] = static_cast<char>(bad[at] ^ (1 << (random() % 8)));
    std::ofstream(copy, std::ios::binary | std::ios::trunc) << bad;
    try {
      (void)answers(copy);
    } catch (const Error& error) {
      EXPECT_EQ(error.exit_code(), ExitCode::kBadInput) << error.what();
      ++noticed;
    } catch (const std::exception& error) {
      FAIL() << "byte " << at << ": " << error.what();
    }
  }
  EXPECT_GT(noticed, kDamaged / 10);
}

}  // namespace
}  // namespace evo
