#include "db/merge.hpp"

#include <gtest/gtest.h>

#include "db/connection.hpp"
#include "db/owner.hpp"
#include "engine/core/error.hpp"
#include "tests/db/sample.hpp"

namespace evo {
namespace {

class MergeTest : public testing::Test {
 protected:
  [[nodiscard]] std::filesystem::path file(const std::string& name) const {
    return folder_.path() / name;
  }

  /// Adds a run with `children` candidates to the database `name`.
  RunId add_run(const std::string& name, std::uint64_t seed, int children,
                RunStatus status = RunStatus::kFinished) {
    Store store = Store::open(file(name));
    RunInfo info = sample::run_info();
    info.seed = seed;
    const RunId run = store.start_run(info);
    add_generation(store, run, 0, children);
    store.finish_run(run, status);
    return run;
  }

  static void add_generation(Store& store, RunId run, int generation, int children) {
    CandidateId best = 0;
    for (int i = 0; i < children; ++i) {
      const CompilationId id = store.put_compilation(sample::compilation(std::to_string(i)));
      EvaluationRecord record = sample::green(generation, i, id, 10 + i);
      record.place = {"node" + std::to_string(i), "GPU-1"};
      const CandidateId candidate = store.record_evaluation(run, record);
      if (i == 0) best = candidate;
    }
    store.record_generation(run, {.number = generation, .elite = {best}});
    store.record_event(run, "warning", "text");
  }

  MergeCount merge_into(const std::string& into, const std::string& from) {
    return merge(Store::open(file(into)).connection(), file(from));
  }

  std::string figure(const std::string& name, const std::string& sql) {
    return Store::open_read_only(file(name)).connection().database().execAndGet(sql).getString();
  }

  sample::TemporaryFolder folder_;
};

constexpr const char* kAll =
    "SELECT (SELECT count(*) FROM run) || ' ' || (SELECT count(*) FROM candidate) || ' ' ||"
    " (SELECT count(*) FROM timing) || ' ' || (SELECT count(*) FROM compilation) || ' ' ||"
    " (SELECT count(*) FROM artifact) || ' ' || (SELECT count(*) FROM elite) || ' ' ||"
    " (SELECT count(*) FROM event)";

TEST_F(MergeTest, RunsComeWithAllThatBelongsToThemAndOnlyOnce) {
  add_run("a.db", 1, 2);
  add_run("b.db", 2, 3);
  const MergeCount first = merge_into("a.db", "b.db");
  EXPECT_EQ(first.added, 1);
  EXPECT_EQ(figure("a.db", kAll), "2 5 5 3 3 2 2");
  const MergeCount second = merge_into("a.db", "b.db");
  EXPECT_EQ(second.added, 0);
  EXPECT_EQ(second.known, 1);
  EXPECT_EQ(figure("a.db", kAll), "2 5 5 3 3 2 2");
  // After the merge, candidates of the elite still have their compilations and timing hosts.
  EXPECT_EQ(figure("a.db",
                   "SELECT group_concat(t.host || b.key) FROM elite e"
                   " JOIN candidate c ON c.id = e.candidate"
                   " JOIN timing t ON t.candidate_id = c.id"
                   " JOIN compilation b ON b.id = c.compilation_id"),
            "node0key-0,node0key-0");
  EXPECT_EQ(figure("a.db", "SELECT count(*) FROM pragma_foreign_key_check"), "0");
}

TEST_F(MergeTest, ARunThatHasGoneOnReplacesItself) {
  const RunId run = add_run("b.db", 2, 3, RunStatus::kInterrupted);
  add_run("a.db", 1, 2);
  EXPECT_EQ(merge_into("a.db", "b.db").added, 1);
  {
    Store store = Store::open(file("b.db"));
    add_generation(store, run, 1, 2);
    store.finish_run(run, RunStatus::kFinished);
  }
  const MergeCount again = merge_into("a.db", "b.db");
  EXPECT_EQ(again.replaced, 1);
  EXPECT_EQ(again.added, 0);
  EXPECT_EQ(figure("a.db", "SELECT count(*) FROM candidate"), "7");
}

TEST_F(MergeTest, ARunThatIsResumedCountsOnlyAsRunning) {
  const RunId run = add_run("b.db", 2, 3, RunStatus::kInterrupted);
  add_run("a.db", 1, 2);
  ASSERT_EQ(merge_into("a.db", "b.db").added, 1);
  (void)Store::open(file("b.db")).resume_run(run, "{}");
  const MergeCount again = merge_into("a.db", "b.db");
  EXPECT_EQ(again.running, 1);
  EXPECT_EQ(again.known, 0);
  EXPECT_EQ(again.replaced, 0);
  EXPECT_EQ(again.added, 0);
}

TEST_F(MergeTest, ARunWhoseProcessDiedIsInterrupted) {
  add_run("a.db", 1, 2);
  const auto merge_with_owner = [&](const std::string& owner) {
    Store store = Store::open(file("b.db"));
    const RunId run = store.start_run(sample::run_info());
    add_generation(store, run, 0, 3);
    store.connection().run("UPDATE run SET owner = ? WHERE id = ?", owner, run);
    return merge_into("a.db", "b.db");
  };
  const MergeCount elsewhere = merge_with_owner("another-host/1/2");
  EXPECT_EQ(elsewhere.on_other_host, 1);
  EXPECT_EQ(elsewhere.running + elsewhere.added + elsewhere.known, 0);
  std::string dead = this_process();
  dead += "0";  // another start time
  const MergeCount first = merge_with_owner(dead);
  EXPECT_EQ(first.added, 1);
  EXPECT_EQ(first.on_other_host, 1);
  EXPECT_EQ(figure("a.db", "SELECT status || owner FROM run WHERE id > 1"), "interrupted");
  EXPECT_EQ(figure("a.db", "SELECT count(*) FROM candidate WHERE run_id > 1"), "3");
  const MergeCount again = merge_into("a.db", "b.db");
  EXPECT_EQ(again.known, 1);
  EXPECT_EQ(again.added + again.replaced, 0);
}

TEST_F(MergeTest, ADatabaseIsNotMergedIntoItself) {
  add_run("a.db", 1, 2);
  std::filesystem::create_symlink("a.db", file("link.db"));
  EXPECT_THROW(merge_into("a.db", "a.db"), DbError);
  EXPECT_THROW(merge_into("a.db", "./a.db"), DbError);
  EXPECT_THROW(merge_into("a.db", "link.db"), DbError);
  EXPECT_EQ(figure("a.db", "SELECT count(*) FROM run"), "1");
}

TEST_F(MergeTest, WhatIsNoDatabaseIsRefusedAndChangesNothing) {
  add_run("a.db", 1, 2);
  EXPECT_THROW(merge_into("a.db", "missing.db"), DbError);
  EXPECT_EQ(figure("a.db", "SELECT count(*) FROM run"), "1");
}

}  // namespace
}  // namespace evo
