// Tests several processes that write to one database, and processes that are killed.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <thread>

#include "db/connection.hpp"
#include "db/owner.hpp"
#include "db/store.hpp"
#include "engine/core/error.hpp"
#include "tests/db/sample.hpp"

namespace evo {
namespace {

using std::chrono::milliseconds;

pid_t start(const std::function<void()>& body) {
  const pid_t child = fork();
  if (child != 0) return child;
  try {
    body();
    _exit(0);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "child: %s\n", error.what());
    _exit(1);
  }
}

int wait_for(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

/// Starts a run and stores generations as evo-tune does, as fast as possible.
void tune(const std::filesystem::path& file, int generations, int children) {
  Store store = Store::open(file);
  const RunId run = store.start_run(sample::run_info());
  for (int generation = 0; generation < generations; ++generation) {
    CandidateId best = 0;
    for (int position = 0; position < children; ++position) {
      const std::string name = std::to_string(generation) + "." + std::to_string(position);
      const CompilationId id = store.put_compilation(sample::compilation(name));
      best = store.record_evaluation(run, sample::green(generation, position, id, 10));
    }
    store.record_generation(run, {.number = generation, .elite = {best}});
  }
  store.finish_run(run, RunStatus::kFinished);
}

TEST(Processes, AllSucceedOnOneDatabaseThatNoneOfThemMadeBefore) {
  const sample::TemporaryFolder folder;
  const auto file = folder.path() / "evo.db";
  constexpr int kProcesses = 4;
  constexpr int kGenerationsEach = 20;
  constexpr int kOffspringEach = 8;
  std::vector<pid_t> processes;
  for (int i = 0; i < kProcesses; ++i) {
    processes.push_back(start([&] { tune(file, kGenerationsEach, kOffspringEach); }));
  }
  for (const pid_t process : processes) EXPECT_EQ(wait_for(process), 0);

  const Store store = Store::open_read_only(file);
  ASSERT_EQ(store.runs().size(), static_cast<std::size_t>(kProcesses));
  for (const StoredRun& run : store.runs()) {
    EXPECT_EQ(run.status, RunStatus::kFinished);
    EXPECT_EQ(run.evaluated, kGenerationsEach * kOffspringEach);
    EXPECT_EQ(run.last_generation, kGenerationsEach - 1);
  }
  SQLite::Database& database = store.connection().database();
  EXPECT_EQ(database.execAndGet("SELECT count(*) FROM compilation").getInt(),
            kGenerationsEach * kOffspringEach)
      << "four processes store the same compilations, and each must be stored once";
}

TEST(Processes, AKillAtAnyInstantLeavesWholeEvaluationsOnly) {
  const sample::TemporaryFolder folder;
  const auto file = folder.path() / "evo.db";
  { const Store make = Store::open(file); }
  const auto written = [&] {
    std::int64_t evaluated = 0;
    for (const StoredRun& run : Store::open_read_only(file).runs()) evaluated += run.evaluated;
    return evaluated;
  };
  constexpr int kKills = 12;
  for (int i = 0; i < kKills; ++i) {
    const std::int64_t before = written();
    const pid_t writer = start([&] { tune(file, 1'000'000, 8); });
    // Kills the process while it starts or, if `i` is odd, after it has written something. The test
    // waits up to 10 s for the process to write, because a machine may be slow.
    for (int wait = 0; i % 2 == 1 && wait < 1000 && written() == before; ++wait)
      std::this_thread::sleep_for(milliseconds(10));
    std::this_thread::sleep_for(milliseconds(15 + 7 * i));
    kill(writer, SIGKILL);
    ASSERT_TRUE(WIFSIGNALED(wait_for(writer)));

    const Store store = Store::open_read_only(file);
    SQLite::Database& database = store.connection().database();
    ASSERT_EQ(database.execAndGet("PRAGMA integrity_check").getString(), "ok");
    EXPECT_EQ(database.execAndGet("SELECT count(*) FROM pragma_foreign_key_check").getInt(), 0);
    EXPECT_EQ(database
                  .execAndGet("SELECT count(*) FROM candidate c WHERE 2 <> (SELECT count(*) FROM"
                              " check_result k WHERE k.candidate_id = c.id) OR NOT EXISTS (SELECT 1"
                              " FROM timing t WHERE t.candidate_id = c.id)")
                  .getInt(),
              0);
    // A killed process may lose only the evaluation that it was storing, so the stored candidates
    // of a run are numbered without gaps.
    EXPECT_EQ(database
                  .execAndGet("SELECT count(*) FROM (SELECT run_id, count(*) AS n,"
                              " max(generation * 8 + position) + 1 AS last FROM candidate"
                              " GROUP BY run_id) WHERE n <> last")
                  .getInt(),
              0);
  }
  const Store store = Store::open(file);
  ASSERT_GT(written(), 0) << "the writers were killed before they wrote anything";
  EXPECT_EQ(store.find_resumable(sample::run_info()), store.runs().back().id);
}

TEST(Processes, ARunBelongsToOneLiveProcess) {
  const sample::TemporaryFolder folder;
  const auto file = folder.path() / "evo.db";
  const pid_t owner = start([&] {
    Store store = Store::open(file);
    store.start_run(sample::run_info());
    pause();
  });
  Store store = Store::open(file);
  for (int i = 0; i < 500 && store.runs().empty(); ++i)
    std::this_thread::sleep_for(milliseconds(10));
  ASSERT_EQ(store.runs().size(), 1U);
  const RunId run = store.runs()[0].id;
  EXPECT_FALSE(store.find_resumable(sample::run_info()).has_value());
  EXPECT_THROW(store.resume_run(run), DbError);
  kill(owner, SIGKILL);
  wait_for(owner);
  EXPECT_EQ(store.find_resumable(sample::run_info()), run);
  EXPECT_EQ(store.resume_run(run).status, RunStatus::kRunning);
}

TEST(Processes, AReaderSeesAConsistentDatabaseBesideAWriter) {
  const sample::TemporaryFolder folder;
  const auto file = folder.path() / "evo.db";
  { const Store make = Store::open(file); }
  const pid_t writer = start([&] { tune(file, 40, 8); });
  const Store reader = Store::open_read_only(file);
  bool done = false;
  while (!done) {
    for (const StoredRun& run : reader.runs()) {
      done = run.status == RunStatus::kFinished;
      for (const StoredGeneration& generation : reader.generations(run.id)) {
        EXPECT_EQ(generation.evaluated, 8);
      }
    }
    if (waitpid(writer, nullptr, WNOHANG) != 0 && !done) done = reader.runs().empty();
  }
  EXPECT_EQ(reader.runs().size(), 1U);
}

TEST(Owner, TellsThisProcessFromOthersAndTheDead) {
  EXPECT_FALSE(is_other_live_process(this_process()));
  EXPECT_FALSE(is_other_live_process(""));
  EXPECT_FALSE(is_other_live_process("elsewhere/1/5"));
  const pid_t child = start([] { pause(); });
  const std::string me = this_process();
  const std::string host = me.substr(0, me.rfind('/', me.rfind('/') - 1));
  EXPECT_FALSE(is_other_live_process(host + "/" + std::to_string(child) + "/0"))
      << "a process with this number but another start time is another process";
  kill(child, SIGKILL);
  wait_for(child);
}

}  // namespace
}  // namespace evo
