// Databases of earlier versions: read as they are, upgraded when they are opened for writing, whole
// whatever happens meanwhile.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <iterator>
#include <sstream>
#include <thread>

#include "db/compilation_texts.hpp"
#include "db/connection.hpp"
#include "db/queries.hpp"
#include "engine/core/error.hpp"
#include "tests/db/failing_vfs.hpp"
#include "tests/db/older_database.hpp"
#include "tests/db/sample.hpp"

namespace evo {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

constexpr int kNewest = 8;

int version_of(const fs::path& file) {
  SQLite::Database database(file, SQLite::OPEN_READWRITE);
  return database.execAndGet("PRAGMA user_version");
}

std::string bytes_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void expect_compilations(const Store& store, int count) {
  for (int i = 0; i < count; ++i) {
    const CompilationRecord expected = sample::filled_compilation(i);
    const CompilationRecord found = store.find_compilation(expected.key).value();
    EXPECT_EQ(found.id, i + 1);
    EXPECT_EQ(found.ok, expected.ok);
    EXPECT_EQ(found.log, expected.log);
    EXPECT_EQ(found.source, expected.source);
    EXPECT_EQ(found.ptx, expected.ptx);
    EXPECT_EQ(found.cubin, expected.cubin);
    EXPECT_EQ(found.resources, expected.resources);
    EXPECT_EQ(store.compilation_facts(found.id).ptx_hash, expected.ptx_hash);
  }
}

/// What evo-elite answers.
std::string answers(const Store& store) {
  std::ostringstream text;
  for (const EliteRow& row : elite_of_run(store, 1)) {
    text << row.rank << ' ' << row.candidate << ' ' << row.p50_us << ' ' << row.config_json << '\n';
  }
  for (const StoredEvaluation& evaluation : store.evaluations(1)) {
    const StoredEvaluation one = store.evaluation(evaluation.id);
    text << one.id << one.record.key << one.record.rejection.has_value()
         << one.record.timing.has_value() << one.record.checks.size() << '\n';
  }
  const RejectionSummary summary = rejections(store, 1);
  text << summary.evaluated << ' ' << summary.rejected << ' ' << summary.duplicates << '\n';
  return text.str();
}

class Upgrade : public testing::TestWithParam<int> {
 protected:
  sample::TemporaryFolder folder_;
  fs::path file_ = folder_.path() / "evo.db";
};

TEST_P(Upgrade, AReaderTakesTheOlderDatabaseAsItIs) {
  sample::make_older_database(file_, GetParam());
  const std::string before = bytes_of(file_);
  {
    const Store store = Store::open_read_only(file_);
    expect_compilations(store, 4);
    EXPECT_EQ(store.evaluations(1).size(), 5U);
    EXPECT_EQ(store.withdrawals(1).size(), GetParam() >= 3 ? 1U : 0U);
    EXPECT_EQ(rejections(store, 1).withdrawn, GetParam() >= 3 ? 1 : 0);
    EXPECT_EQ(rejections(store, 1).green, GetParam() >= 3 ? 2 : 3);
    EXPECT_EQ(store.generations(1).at(0).withdrawn, GetParam() >= 3 ? 1 : 0);
  }
  EXPECT_EQ(bytes_of(file_), before);
  EXPECT_EQ(version_of(file_), GetParam());
}

TEST_P(Upgrade, AWriterBringsItToTheNewestWithAllThatWasInIt) {
  sample::make_older_database(file_, GetParam());
  const std::string read = GetParam() >= 3 ? "" : answers(Store::open_read_only(file_));
  {
    const Store store = Store::open(file_);
    expect_compilations(store, 4);
    if (GetParam() < 3) {
      EXPECT_EQ(answers(store), read);
    }
    EXPECT_EQ(store.find_compilations("key-1").size(), 1U);
    SQLite::Database& database = store.connection().database();
    EXPECT_EQ(database.execAndGet("SELECT count(*) FROM source").getInt(), 2) << "once by content";
    EXPECT_EQ(database.execAndGet("PRAGMA integrity_check").getString(), "ok");
    EXPECT_EQ(database.execAndGet("SELECT count(*) FROM pragma_foreign_key_check").getInt(), 0);
  }
  EXPECT_EQ(version_of(file_), kNewest);
  expect_compilations(Store::open_read_only(file_), 4);
}

TEST_P(Upgrade, TheRunGoesOnAndKnownCompilationsAreFound) {
  sample::make_older_database(file_, GetParam());
  Store store = Store::open(file_);
  EXPECT_EQ(store.find_resumable(sample::run_info()), 1);
  (void)store.resume_run(1);
  EXPECT_EQ(store.put_compilation(sample::filled_compilation(1)), 2) << "known";
  const CompilationId id = store.put_compilation(sample::filled_compilation(7));
  (void)store.record_evaluation(1, sample::green(1, 0, id, 9));
  EXPECT_EQ(store.evaluations(1).size(), 6U);
}

TEST_P(Upgrade, ViewsOfOthersStandInNobodysWay) {
  sample::make_older_database(file_, GetParam());
  SQLite::Database(file_, SQLite::OPEN_READWRITE)
      .exec(
          "CREATE VIEW fast AS SELECT * FROM evaluation WHERE p50_us < 11;"
          "CREATE VIEW code AS SELECT id, ptx FROM compilation");
  expect_compilations(Store::open(file_), 4);
  SQLite::Database database(file_, SQLite::OPEN_READWRITE);
  EXPECT_GT(database.execAndGet("SELECT count(*) FROM fast").getInt(), 0);
}

TEST_P(Upgrade, MakesTheFileSmall) {
  sample::make_older_database(file_, GetParam(), 60);
  const auto before = fs::file_size(file_);
  { const Store store = Store::open(file_); }
  EXPECT_LT(fs::file_size(file_), before / 4);
  SQLite::Database database(file_, SQLite::OPEN_READWRITE);
  EXPECT_LT(database.execAndGet("PRAGMA freelist_count").getInt(), 10);
}

INSTANTIATE_TEST_SUITE_P(OfVersion, Upgrade, testing::Values(1, 2, 3),
                         [](const auto& tested) { return std::to_string(tested.param); });

class UpgradeOf3 : public Upgrade {};

TEST_P(UpgradeOf3, DamageOfBeforeIsStillFound) {
  for (const char* sql : {"UPDATE compilation SET ptx = ptx || ' ' WHERE id = 2",
                          "UPDATE compilation SET cubin = x'00' WHERE id = 2",
                          "UPDATE compilation SET source = 'other' WHERE id = 2"}) {
    const fs::path file = folder_.path() / "damaged.db";
    fs::remove(file);
    sample::make_older_database(file, GetParam());
    SQLite::Database(file, SQLite::OPEN_READWRITE).exec(sql);
    const Store store = Store::open(file);
    try {
      (void)store.evaluation(2);
      ADD_FAILURE() << sql;
    } catch (const DbError& error) {
      EXPECT_THAT(error.what(), AllOf(HasSubstr("is damaged"), HasSubstr("compilation 2")));
    }
    EXPECT_NO_THROW((void)store.evaluation(1));
  }
}

TEST_P(UpgradeOf3, AWithdrawnCandidateLeavesTheEliteOfTheView) {
  sample::make_older_database(file_, GetParam());
  const Store store = Store::open(file_);
  const std::vector<EliteRow> rows = elite_of_run(store, 1);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].candidate, 2);
  EXPECT_EQ(rows[0].rank, 1);
}

TEST_P(UpgradeOf3, AKillAtAnyInstantLeavesItWhole) {
  constexpr int kCompilations = 60;
  const fs::path original = folder_.path() / "original.db";
  sample::make_older_database(original, GetParam(), kCompilations);
  int unfinished = 0;
  for (int i = 0; i < 15; ++i) {
    fs::copy_file(original, file_, fs::copy_options::overwrite_existing);
    for (const char* suffix : {"-wal", "-shm"}) fs::remove(file_.string() + suffix);
    const pid_t child = fork();
    if (child == 0) {
      const Store store = Store::open(file_);
      _exit(0);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(4 + 9 * i));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    const int version = version_of(file_);
    EXPECT_TRUE(version == GetParam() || version == kNewest) << version;
    unfinished += version == GetParam() ? 1 : 0;
    expect_compilations(Store::open_read_only(file_), kCompilations);
    expect_compilations(Store::open(file_), kCompilations);
    EXPECT_LT(fs::file_size(file_), fs::file_size(original) / 4) << "given back by the next one";
  }
  EXPECT_GT(unfinished, 0) << "no kill came in time";
}

TEST_P(UpgradeOf3, OnADiskThatIsFullAtAnyChangeLeavesItWhole) {
  FailingVfs disk;
  const fs::path original = folder_.path() / "original.db";
  sample::make_older_database(original, GetParam());
  constexpr std::int64_t kEvery = 3;  // each change would take half a minute
  for (std::int64_t n = 1;; n += kEvery) {
    const sample::TemporaryFolder folder;
    const fs::path file = folder.path() / "evo.db";
    fs::copy_file(original, file);
    disk.fail(n, 1'000'000, SQLITE_FULL);
    try {
      const Store store = Store::open(file);
    } catch (const DbError& error) {
      EXPECT_THAT(error.what(), HasSubstr("evo.db: the disk is full"));
    }
    const std::int64_t changes = disk.changes();
    disk.fail_never();
    const int version = version_of(file);
    EXPECT_TRUE(version == GetParam() || version == kNewest) << version;
    expect_compilations(Store::open_read_only(file), 4);
    expect_compilations(Store::open(file), 4);
    if (testing::Test::HasFailure()) FAIL() << "at change " << n;
    if (changes < n) break;
  }
}

INSTANTIATE_TEST_SUITE_P(OfVersion, UpgradeOf3, testing::Values(3),
                         [](const auto& tested) { return std::to_string(tested.param); });

TEST(UpgradeOf5, WithdrawalsStayAndMayBeOfTheProfileGate) {
  const sample::TemporaryFolder folder;
  const fs::path file = folder.path() / "evo.db";
  sample::make_older_database(file, 5);
  EXPECT_EQ(Store::open_read_only(file).withdrawals(1).size(), 1U);
  EXPECT_TRUE(Store::open_read_only(file).vendor_times(1).empty());
  Store store = Store::open(file);
  EXPECT_EQ(version_of(file), kNewest);
  ASSERT_EQ(store.withdrawals(1).size(), 1U);
  EXPECT_EQ(store.withdrawals(1)[0].why.detail, "detail");
  store.record_withdrawal(1, {2, 1, {Gate::kProfile, "idle"}});
  EXPECT_EQ(store.evaluation(2).withdrawal->gate, Gate::kProfile);
  EXPECT_TRUE(elite_of_run(store, 1).empty()) << "both members are withdrawn";
  EXPECT_TRUE(store.vendor_times(1).empty());
}

TEST(UpgradeOf7, HasNoWaysToItsWinners) {
  const sample::TemporaryFolder folder;
  const fs::path file = folder.path() / "evo.db";
  sample::make_older_database(file, 7);
  EXPECT_TRUE(Store::open_read_only(file).winner_ways(1).empty());
  EXPECT_EQ(version_of(file), 7) << "reading changes nothing";
  EXPECT_TRUE(Store::open(file).winner_ways(1).empty());
  EXPECT_EQ(version_of(file), kNewest);
}

TEST(VendorTime, StandsBesideACandidateOfAMeasuredRun) {
  const sample::TemporaryFolder folder;
  Store store = Store::open(folder.path() / "evo.db");
  sample::fill(store);
  const RunId predicted = store.start_run(sample::run_info(TimeKind::kPredicted));
  const CandidateId other = store.record_evaluation(
      predicted, sample::green(0, 0, store.put_compilation(sample::compilation("x")), 5,
                               TimeKind::kPredicted));
  const auto insert = [&](RunId run, CandidateId candidate) {
    store.connection().database().exec(
        "INSERT INTO vendor_time (run_id, candidate_id, name, starts_from, p50_us, ratio,"
        " ratio_low, ratio_high) VALUES (" +
        std::to_string(run) + ", " + std::to_string(candidate) + ", 'v', 'fp16', 9, 2, 1, 3)");
  };
  EXPECT_THROW(insert(predicted, other), SQLite::Exception);
  EXPECT_THROW(insert(1, other), SQLite::Exception);
  insert(1, 1);
  ASSERT_EQ(store.vendor_times(1).size(), 1U);
  EXPECT_EQ(store.vendor_times(1)[0].ratio_high, 3);
}

TEST(PackedTexts, KeepTheSealsOfVersion3) {
  // As version 3 sealed the row of these texts.
  const CompilationTexts texts{"ptxas info", "__global__ void k() {}\n", "// ptx",
                               "\x7f"
                               "ELF"};
  EXPECT_EQ(digest_of(texts), "1ff9a916f250bddb3f249ced612152c6");
}

}  // namespace
}  // namespace evo
