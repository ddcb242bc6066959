// Tests a database that is replaced, renamed, deleted or overwritten while a program writes to it.

#include "db/opened_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "db/connection.hpp"
#include "db/store.hpp"
#include "engine/core/error.hpp"
#include "tests/db/sample.hpp"

namespace evo {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string content(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

void overwrite(const fs::path& file, const std::string& with) {
  std::ofstream(file, std::ios::binary) << with;
}

std::uintmax_t bytes(const fs::path& file) { return fs::exists(file) ? fs::file_size(file) : 0; }

class OpenedFileTest : public testing::Test {
 protected:
  void SetUp() override {
    other_store();
    store_ = std::make_unique<Store>(Store::open(file_));
    run_ = store_->start_run(sample::run_info());
    store_->record_event(run_, "note", "before");
  }

  /// Tries to write to the open database; returns "stored", or the message of the error.
  std::string next_error() {
    try {
      store_->record_event(run_, "note", "after");
    } catch (const DbError& error) {
      return error.what();
    }
    return "stored";
  }

  /// Creates a second valid database and remembers its bytes.
  void other_store() {
    {
      Store store = Store::open(other_);
      store.finish_run(store.start_run(sample::run_info(TimeKind::kPredicted)),
                       RunStatus::kFinished);
    }
    other_content_ = content(other_);
  }

  /// Expects that the second database now has the name of the first, and that the Store, which had
  /// opened the first, did not change the second.
  void expect_other_is_untouched() {
    store_.reset();
    EXPECT_TRUE(content(file_) == other_content_);
    EXPECT_EQ(bytes(log()), 0U);
    const Store store = Store::open_read_only(file_);
    ASSERT_EQ(store.runs().size(), 1U);
    EXPECT_EQ(store.runs().front().status, RunStatus::kFinished);
  }

  [[nodiscard]] fs::path log() const { return file_.string() + "-wal"; }
  [[nodiscard]] fs::path index() const { return file_.string() + "-shm"; }

  sample::TemporaryFolder folder_;
  fs::path file_ = folder_.path() / "evo.db";
  fs::path other_ = folder_.path() / "other.db";
  std::string other_content_;
  std::unique_ptr<Store> store_;
  RunId run_ = 0;
};

TEST_F(OpenedFileTest, AReplacedOneIsNotWritten) {
  fs::rename(other_, file_);
  EXPECT_THAT(next_error(), AllOf(HasSubstr(file_.string()), HasSubstr("was replaced by another"),
                                  HasSubstr("is lost"), Not(HasSubstr("delete both"))));
  EXPECT_THAT(next_error(), HasSubstr("was replaced by another")) << "a second write fails, too";
  EXPECT_THROW((void)store_->comparisons(run_), DbError)
      << "a replaced database is not read either";
  expect_other_is_untouched();
}

TEST_F(OpenedFileTest, ARenamedOneHoldsAllThatWasStored) {
  const fs::path moved = folder_.path() / "moved.db";
  fs::rename(file_, moved);
  EXPECT_THAT(next_error(), AllOf(HasSubstr("was deleted or renamed"),
                                  HasSubstr("the stored results are in " + moved.string())));
  store_.reset();
  EXPECT_FALSE(fs::exists(file_));
  const Store store = Store::open_read_only(moved);
  ASSERT_EQ(store.events(run_).size(), 1U);
  EXPECT_EQ(store.events(run_).front().text, "before");
}

TEST_F(OpenedFileTest, ADeletedOneIsNotMadeAnew) {
  fs::remove(file_);
  EXPECT_THAT(next_error(), AllOf(HasSubstr("was deleted or renamed"), HasSubstr("is lost")));
  store_.reset();
  EXPECT_FALSE(fs::exists(file_));
}

TEST_F(OpenedFileTest, ALinkThatLeadsElsewhereIsAReplacement) {
  const fs::path link = folder_.path() / "link.db";
  fs::create_symlink(file_, link);
  Store linked = Store::open(link);
  linked.record_event(run_, "note", "through the link");
  fs::remove(link);
  fs::create_symlink(other_, link);
  EXPECT_THROW(linked.record_event(run_, "note", "after"), DbError);
  EXPECT_TRUE(content(other_) == other_content_);
  EXPECT_EQ(next_error(), "stored")
      << "store_ opened the database by its own name, so the changed link does not matter";
}

TEST_F(OpenedFileTest, WhatWasCopiedOverItStaysAsItIs) {
  store_->connection().database().exec("PRAGMA wal_checkpoint");
  store_->record_event(run_, "note", "in the log");
  for (const std::string& with : {std::string("no database"), std::string()}) {
    SCOPED_TRACE(with);
    overwrite(file_, with);
    EXPECT_THAT(next_error(), HasSubstr("was overwritten"));
    store_.reset();
    EXPECT_TRUE(content(file_) == with);
    EXPECT_EQ(bytes(log()), 0U);
    fs::remove(file_);
    store_ = std::make_unique<Store>(Store::open(file_));
    run_ = store_->start_run(sample::run_info());
  }
}

TEST_F(OpenedFileTest, WithoutItsLogOrIndexItIsCompletedAndLeft) {
  for (const bool is_log : {true, false}) {
    fs::remove(is_log ? log() : index());
    EXPECT_THAT(next_error(), AllOf(HasSubstr(is_log ? "lost its evo.db-wal" : "evo.db-shm"),
                                    HasSubstr("the stored results are in")));
    store_.reset();
    const Store store = Store::open_read_only(file_);
    EXPECT_EQ(store.events(run_).size(), is_log ? 1U : 2U);
    store_ = std::make_unique<Store>(Store::open(file_));
    store_->record_event(run_, "note", "again");
  }
}

TEST_F(OpenedFileTest, OthersThatWriteToItAreNoChange) {
  Store other = Store::open(file_);
  for (const char* statement :
       {"PRAGMA wal_checkpoint(TRUNCATE)", "VACUUM", "PRAGMA wal_checkpoint",
        "CREATE TABLE mine(x)", "DROP TABLE mine"}) {
    other.connection().database().exec(statement);
    EXPECT_EQ(next_error(), "stored") << statement;
    other.record_event(run_, "note", statement);
  }
}

/// Another process opens the new database while the write-ahead log of the old one lies beside it.
/// evo-tune must not change the log then, but tells the user to delete the log and its index.
TEST_F(OpenedFileTest, ALogThatAnotherProcessUsesIsLeftToAPerson) {
  fs::rename(other_, file_);
  std::array<int, 2> ready{}, done{};
  ASSERT_EQ(pipe(ready.data()), 0);
  ASSERT_EQ(pipe(done.data()), 0);
  const pid_t child = fork();
  if (child == 0) {
    close(done[1]);
    SQLite::Database database(file_.string(), SQLite::OPEN_READWRITE);
    (void)database.execAndGet("SELECT count(*) FROM sqlite_master");
    char byte = 'x';
    (void)!::write(ready[1], &byte, 1);
    (void)!::read(done[0], &byte, 1);
    _exit(0);
  }
  close(done[0]);
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  const std::uintmax_t before = bytes(log());
  EXPECT_THAT(next_error(), AllOf(HasSubstr("was replaced"), HasSubstr("then delete both")));
  EXPECT_EQ(bytes(log()), before);
  close(done[1]);
  waitpid(child, nullptr, 0);
  store_.reset();
  EXPECT_TRUE(content(file_) == other_content_);
}

}  // namespace
}  // namespace evo
