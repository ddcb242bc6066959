// Tests which files are accepted as databases, and the errors for other files.

#include "db/connection.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <iterator>
#include <random>

#include "db/store.hpp"
#include "engine/core/error.hpp"
#include "engine/core/json_reader.hpp"
#include "tests/db/sample.hpp"

namespace evo {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

class DatabaseFile : public testing::Test {
 protected:
  /// Opens the database file by `open` and returns the message of the resulting DbError, or "no
  /// DbError".
  std::string refusal(Store (*open)(const fs::path&)) const {
    try {
      open(file_);
    } catch (const DbError& error) {
      return error.what();
    }
    return "no DbError";
  }

  void exec(const std::string& sql) const {
    SQLite::Database(file_, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE).exec(sql);
  }

  std::string bytes() const {
    std::ifstream in(file_, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  sample::TemporaryFolder folder_;
  fs::path file_ = folder_.path() / "evo #1?.db";
};

TEST_F(DatabaseFile, IsMadeOnceAndFoundAgain) {
  const RunId run = Store::open(file_).start_run(sample::run_info());
  EXPECT_EQ(Store::open(file_).run(run).info.shape, "mission");
  EXPECT_EQ(Store::open_read_only(file_).run(run).info.shape, "mission");
  EXPECT_FALSE(fs::exists(file_.string() + "-wal")) << "the last connection removes the log";
}

TEST_F(DatabaseFile, UsesTheWriteAheadLogAndForeignKeys) {
  const Store store = Store::open(file_);
  SQLite::Database& database = store.connection().database();
  EXPECT_EQ(database.execAndGet("PRAGMA journal_mode").getString(), "wal");
  EXPECT_EQ(database.execAndGet("PRAGMA foreign_keys").getInt(), 1);
  EXPECT_THROW(database.exec("INSERT INTO event (run_id, kind, text) VALUES (99, 'a', 'b')"),
               SQLite::Exception);
  EXPECT_EQ(database.execAndGet("PRAGMA integrity_check").getString(), "ok");
}

TEST_F(DatabaseFile, MissingIsAnErrorForReadersThatCreatesNothing) {
  EXPECT_THAT(refusal(Store::open_read_only), AllOf(HasSubstr(file_), HasSubstr("no such file")));
  EXPECT_FALSE(fs::exists(file_));
}

TEST_F(DatabaseFile, OfAnotherProgramIsRefusedAndUntouched) {
  exec("CREATE TABLE accounts (id INTEGER); INSERT INTO accounts VALUES (1)");
  const std::string before = bytes();
  for (const auto open : {Store::open, Store::open_read_only}) {
    EXPECT_THAT(refusal(open), AllOf(HasSubstr(file_), HasSubstr("another program")));
  }
  EXPECT_EQ(bytes(), before);
}

TEST_F(DatabaseFile, WithAnotherApplicationIdIsRefused) {
  exec("PRAGMA application_id = 42");
  EXPECT_THAT(refusal(Store::open), HasSubstr("another program"));
}

TEST_F(DatabaseFile, OfANewerVersionIsRefused) {
  { const Store store = Store::open(file_); }
  exec("PRAGMA user_version = 1000");
  for (const auto open : {Store::open, Store::open_read_only}) {
    EXPECT_THAT(refusal(open),
                AllOf(HasSubstr(file_), HasSubstr("a newer evo-tune: its schema is version 1000")));
  }
}

TEST_F(DatabaseFile, ThatIsNoDatabaseIsRefused) {
  std::ofstream(file_) << std::string(5000, 'x');
  for (const auto open : {Store::open, Store::open_read_only}) {
    EXPECT_THAT(refusal(open), AllOf(HasSubstr(file_), HasSubstr("not a database")));
  }
}

TEST_F(DatabaseFile, ThatIsAFolderOrHasNoFolderIsRefused) {
  fs::create_directory(file_);
  EXPECT_THAT(refusal(Store::open), HasSubstr("is a folder"));
  file_ /= "no/such/evo.db";
  EXPECT_THAT(refusal(Store::open), AllOf(HasSubstr(file_), HasSubstr("cannot be opened")));
}

TEST_F(DatabaseFile, ThatIsEmptyIsFilledByAWriterAndRefusedByAReader) {
  std::ofstream(file_).close();
  EXPECT_THAT(refusal(Store::open_read_only), HasSubstr("is empty"));
  EXPECT_TRUE(Store::open(file_).runs().empty());
}

TEST_F(DatabaseFile, ReadersCannotWrite) {
  { const Store store = Store::open(file_); }
  Store reader = Store::open_read_only(file_);
  EXPECT_THROW(reader.start_run(sample::run_info()), DbError);
}

/// Runs `body` in a child process without root's privileges; returns its exit status.
int as_nobody(const std::function<int()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    constexpr uid_t kNobody = 65534;
    if (geteuid() == 0 && setuid(kNobody) != 0) _exit(100);
    _exit(body());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 101;
}

TEST_F(DatabaseFile, InAReadOnlyFolderCanBeReadButNotWritten) {
  Store::open(file_).start_run(sample::run_info());
  chmod(file_.c_str(), 0444);
  chmod(folder_.path().c_str(), 0555);
  const int status = as_nobody([&] {
    if (refusal(Store::open).find("may not be written") == std::string::npos) return 1;
    try {
      return Store::open_read_only(file_).runs().size() == 1 ? 0 : 2;
    } catch (const DbError&) {
      return 3;
    }
  });
  chmod(folder_.path().c_str(), 0755);
  EXPECT_EQ(status, 0);
}

TEST_F(DatabaseFile, OnAFullDiskKeepsWhatItHas) {
  Store store = Store::open(file_);
  const RunId run = store.start_run(sample::run_info());
  store.put_compilation(sample::compilation("before"));
  SQLite::Database& database = store.connection().database();
  const int pages = database.execAndGet("PRAGMA page_count").getInt();
  database.execAndGet("PRAGMA max_page_count = " + std::to_string(pages + 2));
  CompilationRecord big = sample::compilation("big");
  std::mt19937 random(1);  // incompressible data
  for (int i = 0; i < 1'000'000; ++i) big.cubin += static_cast<char>(random());
  try {
    store.put_compilation(big);
    FAIL() << "a megabyte was stored, although the database may grow by two pages only";
  } catch (const DbError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr(file_), HasSubstr("disk is full")));
  }
  EXPECT_FALSE(store.compilation_id("key-big").has_value());
  EXPECT_TRUE(store.compilation_id("key-before").has_value());
  store.record_event(run, "disk", "small things still fit");
  database.execAndGet("PRAGMA max_page_count = 1000000");
  store.put_compilation(big);
  EXPECT_EQ(database.execAndGet("PRAGMA integrity_check").getString(), "ok");
}

TEST_F(DatabaseFile, OfAnOlderVersionIsRefusedAndUntouched) {
  { const Store store = Store::open(file_); }
  for (int version = 0; version < kSchemaVersion; ++version) {
    exec("PRAGMA user_version = " + std::to_string(version));
    const std::string before = bytes();
    for (const auto open : {Store::open, Store::open_read_only}) {
      EXPECT_THAT(refusal(open),
                  AllOf(HasSubstr(file_.string() + ": was made by an older evo-tune"),
                        HasSubstr("its schema is version " + std::to_string(version) +
                                  ", this evo-tune reads version " +
                                  std::to_string(kSchemaVersion) + " only"),
                        HasSubstr("next step: keep the older evo-tune"), HasSubstr("--db")));
      EXPECT_EQ(bytes(), before) << version;
      EXPECT_FALSE(fs::exists(file_.string() + "-wal"));
      EXPECT_FALSE(fs::exists(file_.string() + "-shm"));
    }
  }
}

TEST_F(DatabaseFile, OfAnOlderVersionKeepsTheLogOfAKilledProgram) {
  const fs::path made = folder_.path() / "made.db";
  {
    Store store = Store::open(made);
    store.connection().database().exec("PRAGMA user_version = 8");
    store.start_run(sample::run_info());  // only the write-ahead log has the row, as after a kill
    fs::copy_file(made, file_);
    fs::copy_file(made.string() + "-wal", file_.string() + "-wal");
  }
  const auto log = [&] { return read_text_file(file_.string() + "-wal"); };
  const std::string before = bytes();
  const std::string log_before = log();
  ASSERT_FALSE(log_before.empty());
  for (const auto open : {Store::open, Store::open_read_only}) {
    EXPECT_THAT(refusal(open), HasSubstr("its schema is version 8"));
    EXPECT_EQ(bytes(), before);
    EXPECT_EQ(log(), log_before);
  }
}

}  // namespace
}  // namespace evo
