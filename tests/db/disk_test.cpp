// Tests a disk that is full or fails at any write: the error is clear, stored data are not lost,
// and the run continues where it stopped.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <limits>
#include <optional>
#include <string>

#include "db/connection.hpp"
#include "db/store.hpp"
#include "engine/core/error.hpp"
#include "tests/db/failing_vfs.hpp"
#include "tests/db/sample.hpp"

namespace evo {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

constexpr std::int64_t kForever = std::numeric_limits<std::int64_t>::max() / 2;
constexpr int kGenerations = 2;
constexpr int kOffspring = 2;

/// Stores a whole run step by step, but skips steps that are stored already.
class Script {
 public:
  explicit Script(std::filesystem::path file) : file_(std::move(file)) {}

  /// Executes the steps that have not succeeded yet. Throws DbError at the first step that fails.
  void play() {
    Store store = Store::open(file_);
    if (!run_) run_ = store.start_run(sample::run_info());
    for (; generation_ < kGenerations; ++generation_, position_ = 0) {
      for (; position_ < kOffspring; ++position_) evaluate(store);
      store.record_generation(*run_, {.number = generation_, .elite = {best_}});
    }
    store.finish_run(*run_, RunStatus::kFinished);
    finished_ = true;
  }

  /// Expects that the data of all steps that succeeded are stored, and no incomplete data.
  void expect_kept() const {
    const Store store = Store::open(file_);
    SQLite::Database& database = store.connection().database();
    EXPECT_EQ(database.execAndGet("PRAGMA integrity_check").getString(), "ok");
    EXPECT_EQ(database.execAndGet("SELECT count(*) FROM pragma_foreign_key_check").getInt(), 0);
    if (!run_) {
      EXPECT_TRUE(store.runs().empty());
      return;
    }
    EXPECT_EQ(store.evaluations(*run_).size(),
              static_cast<std::size_t>(generation_ * kOffspring + position_));
    EXPECT_EQ(store.generations(*run_).size(), static_cast<std::size_t>(generation_));
    for (const EvaluationRecord& evaluation : store.evaluations(*run_)) {
      EXPECT_TRUE(evaluation.timing.has_value());
      EXPECT_EQ(evaluation.checks.size(), 2U);
      EXPECT_EQ(store.compilation(*evaluation.compilation).cubin.size(), kCubinBytes);
    }
    EXPECT_EQ(store.run(*run_).status, finished_ ? RunStatus::kFinished : RunStatus::kRunning);
  }

 private:
  static constexpr std::size_t kCubinBytes = 9'000;  // several pages

  void evaluate(Store& store) {
    CompilationRecord compilation =
        sample::compilation(std::to_string(generation_) + "." + std::to_string(position_));
    compilation.cubin.resize(kCubinBytes, 'c');
    const CompilationId id = store.put_compilation(compilation);
    best_ = store.record_evaluation(*run_, sample::green(generation_, position_, id, 10));
  }

  std::filesystem::path file_;
  std::optional<RunId> run_ = {};
  CandidateId best_ = 0;
  int generation_ = 0;
  int position_ = 0;
  bool finished_ = false;
};

/// For every n, stores the run (see Script) on a disk on which the n-th and the following changes
/// of files, `count` in all, fail with SQLite's result `code`. The DbError must contain `message`.
/// Then continues on a working disk until the run is stored. Returns the number of changes of a
/// whole run.
std::int64_t fail_at_every_change(std::int64_t count, int code, const std::string& message) {
  FailingVfs disk;
  for (std::int64_t n = 1;; ++n) {
    const sample::TemporaryFolder folder;
    Script script(folder.path() / "evo.db");
    bool failed = false;
    disk.fail(n, count, code);
    try {
      script.play();
    } catch (const DbError& error) {
      failed = true;
      EXPECT_THAT(error.what(), HasSubstr("evo.db: " + message)) << "change " << n;
    }
    const std::int64_t changes = disk.changes();
    disk.fail_never();
    script.expect_kept();
    if (failed) script.play();
    script.expect_kept();
    if (testing::Test::HasFailure()) ADD_FAILURE() << "at change " << n;
    if (testing::Test::HasFailure() || changes < n) return changes;
  }
}

TEST(Disk, FullFromAnyWriteOn) {
  const std::int64_t changes = fail_at_every_change(kForever, SQLITE_FULL, "the disk is full");
  EXPECT_GT(changes, 60);
}

TEST(Disk, FullForOneWriteOnly) { (void)fail_at_every_change(1, SQLITE_FULL, "the disk is full"); }

TEST(Disk, FailingFromAnyWriteOn) {
  (void)fail_at_every_change(kForever, SQLITE_IOERR_WRITE, "could not be read or written");
}

TEST(Disk, FailingAtOneWriteOrSyncOnly) {
  (void)fail_at_every_change(1, SQLITE_IOERR_FSYNC, "could not be read or written");
}

}  // namespace
}  // namespace evo
