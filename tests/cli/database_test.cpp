// Tests --db of the programs that open a database, for example if the file is no database or is
// damaged, if another process has locked it, or if the disk is full.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <thread>

#include "db/connection.hpp"
#include "engine/core/error.hpp"
#include "engine/core/json_reader.hpp"
#include "tests/cli/fake_session.hpp"
#include "tests/cli/run_content.hpp"

namespace evo {
namespace {

namespace fs = std::filesystem;
using std::chrono::seconds;
using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kRun = "--generations 4 --offspring 6 --seed 7 --check-seed 5 --json ";

class DatabaseOption : public testing::Test {
 protected:
  /// Expects that programs that open a database reject `db` with exit code 2 and a message that
  /// matches `why`.
  void expect_refused(const std::string& db,
                      const testing::Matcher<const std::string&>& why) const {
    const std::string record = "evo-record --count 2 --out r.json --device fake:measured --space " +
                               FakeSession::faults_space();
    for (const std::string& program :
         {std::string("evo-elite"), std::string("evo-elite runs"),
          std::string("evo-elite rejections"), std::string("evo-export --out out"),
          std::string("evo-report --out r.html"), FakeSession::tune("--generations 1"),
          FakeSession::tune("--resume"), record, FakeSession::judge("--baseline")}) {
      const bool is_baseline = program.ends_with("--baseline");
      // Leaves out --baseline with an empty name, whose message names --baseline instead of --db,
      // and with a folder, which may be a bundle.
      if (is_baseline && (db.empty() || fs::is_directory(session_.path(db)))) continue;
      const std::string option = is_baseline ? " '" : " --db '";
      const ProgramResult result = session_.run(program + option + db + "'");
      EXPECT_EQ(result.exit_code, 2) << program << " " << db << "\n" << result.err;
      EXPECT_EQ(result.out, "") << program << " " << db;
      EXPECT_THAT(result.err, why) << program << " " << db;
    }
  }
  void expect_refused_and_untouched(const std::string& name, const std::string& why) const {
    const std::string before = read_text_file(session_.path(name));
    expect_refused(name, HasSubstr(why));
    EXPECT_EQ(read_text_file(session_.path(name)), before) << name;
    for (const char* suffix : {"-wal", "-shm", "-journal"}) {
      EXPECT_FALSE(fs::exists(session_.path(name + suffix))) << name << suffix;
    }
  }

  /// Creates a database with one run.
  std::string good_database() const {
    EXPECT_EQ(session_.run(FakeSession::tune("--db good.db --generations 2 --quiet")).exit_code, 0);
    return read_text_file(session_.path("good.db"));
  }

  /// Locks the database for writing, like another process that is in the middle of a transaction.
  struct Lock {
    explicit Lock(const std::string& file)
        : database(file, SQLite::OPEN_READWRITE, 10'000),
          transaction(database, SQLite::TransactionBehavior::IMMEDIATE) {}
    SQLite::Database database;
    SQLite::Transaction transaction;
  };

  FakeSession session_;
};

TEST_F(DatabaseOption, ThatIsNoFileOfOursIsRefusedByEveryProgramAndUntouched) {
  expect_refused("", HasSubstr("--db: ''"));
  const ProgramResult baseline = session_.run(FakeSession::judge("--baseline ''"));
  EXPECT_EQ(baseline.exit_code, 2);
  EXPECT_THAT(baseline.err, HasSubstr("--baseline: ''"));
  expect_refused(":memory:", HasSubstr(":memory: is not a file"));
  fs::create_directory(session_.path("folder"));
  expect_refused("folder", HasSubstr("folder: is a folder"));
  ASSERT_EQ(mkfifo(session_.path("pipe").c_str(), 0600), 0);
  expect_refused("pipe", HasSubstr("pipe: is a pipe, a socket or a device"));
  expect_refused("/dev/null", HasSubstr("/dev/null: is a pipe, a socket or a device"));
  expect_refused("/dev/zero", HasSubstr("/dev/zero: is a pipe, a socket or a device"));
  write_file(session_.path("text"), "not a database\n");
  expect_refused_and_untouched("text", "text: is not a database");
  write_file(session_.path("long"), std::string(100'000, 'x'));
  expect_refused_and_untouched("long", "long: is not a database");
}

TEST_F(DatabaseOption, ThatIsDamagedIsRefusedByEveryProgramAndUntouched) {
  const std::string good = good_database();
  write_file(session_.path("cut"), good.substr(0, good.size() / 2));
  expect_refused_and_untouched("cut", "cut: is damaged");
  write_file(session_.path("header"), good.substr(0, 1000));
  expect_refused_and_untouched("header", "header: is");
  std::string zeros = good;
  for (std::size_t page = 8; page < 12; ++page) zeros.replace(page * 4096, 4096, 4096, '\0');
  write_file(session_.path("zeros"), zeros);
  expect_refused_and_untouched("zeros", "zeros: is damaged");
}

TEST_F(DatabaseOption, OfAnotherVersionIsRefusedByEveryProgramAndUntouched) {
  (void)good_database();
  for (const int version : {1, 8, 1000}) {
    SQLite::Database(session_.path("good.db"), SQLite::OPEN_READWRITE)
        .exec("PRAGMA journal_mode = DELETE; PRAGMA user_version = " + std::to_string(version));
    expect_refused_and_untouched("good.db", "its schema is version " + std::to_string(version) +
                                                ", this evo-tune reads version " +
                                                std::to_string(kSchemaVersion) + " only");
  }
}

TEST_F(DatabaseOption, LockedIsWaitedForWithAWordAboutWhom) {
  (void)good_database();
  std::optional<Lock> lock(session_.path("good.db"));
  const auto told = [&] {
    std::ifstream file(session_.path("told"));
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  std::thread other([&] {  // waits until evo-tune has printed the message
    const auto end = std::chrono::steady_clock::now() + seconds(60);
    while (told().find("waiting for it") == std::string::npos &&
           std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    lock.reset();
  });
  const ProgramResult result =
      session_.run(FakeSession::tune("--db good.db --generations 1 2>told || exit"));
  other.join();
  EXPECT_EQ(result.exit_code, 0) << told();
  EXPECT_THAT(told(), HasSubstr("good.db: is locked by process " + std::to_string(getpid()) +
                                " (every_tool_test"));
  EXPECT_THAT(told(), HasSubstr("waiting for it, at most 300 s"));
}

TEST_F(DatabaseOption, LockedForLongerThanTheLimitIsAnErrorThatSaysSo) {
  (void)good_database();
  const Lock lock(session_.path("good.db"));
  const ProgramResult result = run_program(FakeSession::tune("--db good.db"), session_.folder(),
                                           session_.environment() + " EVO_DB_WAIT_SECONDS=1");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, AllOf(HasSubstr("good.db: was locked by process"), HasSubstr("for 1 s"),
                                HasSubstr("EVO_DB_WAIT_SECONDS")));
}

TEST_F(DatabaseOption, ALimitThatIsNoNumberIsRefused) {
  for (const char* limit : {"x", "-1", "1e9", "100000"}) {
    const ProgramResult result =
        run_program(FakeSession::tune("--generations 1"), session_.folder(),
                    session_.environment() + " EVO_DB_WAIT_SECONDS=" + limit);
    EXPECT_EQ(result.exit_code, 2) << limit;
    EXPECT_THAT(result.err, AllOf(HasSubstr("EVO_DB_WAIT_SECONDS: '" + std::string(limit) + "'"),
                                  HasSubstr("from 0 to 86400")));
  }
}

TEST_F(DatabaseOption, LockedInTheMiddleOfARunLosesNothing) {
  const FakeSession undisturbed;
  ASSERT_EQ(undisturbed.run(FakeSession::tune(kRun)).exit_code, 0);
  {
    RunningProgram program(
        FakeSession::tune(kRun), session_.folder(),
        session_.environment() + " EVO_FAKE_COMPILE_MS=20 EVO_DB_WAIT_SECONDS=1");
    for (int i = 0; i < 5; ++i) (void)program.read_line();
    const Lock lock(session_.path("evo.db"));
    EXPECT_EQ(program.wait(), 2);
  }
  ASSERT_EQ(session_.run(FakeSession::tune(std::string(kRun) + "--resume")).exit_code, 0);
  EXPECT_EQ(first_difference(run_content(session_.store(), 1), run_content(undisturbed.store(), 1)),
            "");
}

TEST_F(DatabaseOption, ASignalEndsAWaitSoonWithEverythingSaved) {
  const FakeSession undisturbed;
  ASSERT_EQ(undisturbed.run(FakeSession::tune(kRun)).exit_code, 0);
  {
    RunningProgram program(FakeSession::tune(kRun), session_.folder(),
                           session_.environment() + " EVO_FAKE_COMPILE_MS=20");
    for (int i = 0; i < 5; ++i) (void)program.read_line();
    const Lock lock(session_.path("evo.db"));
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    const auto start = std::chrono::steady_clock::now();
    program.send(SIGTERM);
    EXPECT_EQ(program.wait(), 130);
    EXPECT_LT(std::chrono::steady_clock::now() - start, seconds(10));
  }
  ASSERT_EQ(session_.run(FakeSession::tune(std::string(kRun) + "--resume")).exit_code, 0);
  EXPECT_EQ(first_difference(run_content(session_.store(), 1), run_content(undisturbed.store(), 1)),
            "");
}

TEST_F(DatabaseOption, TheSecondSignalEndsAtOnce) {
  RunningProgram program(FakeSession::tune(kRun), session_.folder(),
                         session_.environment() + " EVO_FAKE_COMPILE_MS=20");
  for (int i = 0; i < 5; ++i) (void)program.read_line();
  const Lock lock(session_.path("evo.db"));
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  program.send(SIGINT);
  std::this_thread::sleep_for(std::chrono::milliseconds(1200));
  const auto start = std::chrono::steady_clock::now();
  program.send(SIGINT);
  EXPECT_EQ(program.wait(), 130);
  EXPECT_LT(std::chrono::steady_clock::now() - start, seconds(1));
}

TEST_F(DatabaseOption, SignalsWithinASecondAreOneRequestToEndInOrder) {
  RunningProgram program(FakeSession::tune(kRun), session_.folder(),
                         session_.environment() + " EVO_FAKE_COMPILE_MS=20");
  for (int i = 0; i < 5; ++i) (void)program.read_line();
  program.send(SIGTERM);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  program.send(SIGTERM);
  EXPECT_EQ(program.wait(), 130);
  EXPECT_EQ(session_.store().run(1).status, RunStatus::kInterrupted);
}

TEST_F(DatabaseOption, AFullDiskStopsTheRunAndResumingItEndsAsIfItHadNotBeenFull) {
  const FakeSession undisturbed;
  ASSERT_EQ(undisturbed.run(FakeSession::tune(kRun)).exit_code, 0);
  // The file size limit (ulimit -f) has units of 512 bytes, or of 1 KiB in some shells. Depending
  // on the limit, evo-tune fails while it writes the schema, the compilations or the evaluations,
  // or it succeeds.
  int failed = 0;
  int stored_and_failed = 0;
  for (int limit = 150; limit < 20'000; limit = limit * 5 / 4) {
    const FakeSession session;
    const ProgramResult full =
        run_program(FakeSession::tune(kRun), session.folder(),
                    "ulimit -f " + std::to_string(limit) + "; " + session.environment());
    ASSERT_THAT(full.exit_code, AnyOf(0, 2)) << limit << full.err;
    if (full.exit_code == 0) break;
    ++failed;
    EXPECT_THAT(full.err,
                AllOf(HasSubstr("earlier results are intact"), HasSubstr("\nnext step: ")))
        << limit;
    const bool started = full.out.find(R"("event":"evaluated")") != std::string::npos;
    stored_and_failed += started ? 1 : 0;
    const ProgramResult resumed =
        session.run(FakeSession::tune(std::string(kRun) + (started ? "--resume" : "")));
    ASSERT_EQ(resumed.exit_code, 0) << limit << resumed.err;
    const RunId run = session.store().runs().back().id;
    EXPECT_EQ(integrity_damage(session.store()), "");
    EXPECT_EQ(
        first_difference(run_content(session.store(), run), run_content(undisturbed.store(), 1)),
        "")
        << limit;
  }
  EXPECT_GT(failed, 3);
  EXPECT_GT(stored_and_failed, 0);
}

TEST_F(DatabaseOption, ARunIsResumedOnItsOwnInputsOnly) {
  (void)good_database();
  const auto expect = [&](const std::string& options, const std::string& why) {
    const ProgramResult result = session_.run("evo-tune --db good.db --resume 1 " + options);
    EXPECT_EQ(result.exit_code, 2) << options << "\n" << result.err;
    EXPECT_THAT(result.err, HasSubstr(why)) << options;
    EXPECT_EQ(session_.store("good.db").run(1).status, RunStatus::kFinished) << options;
  };
  const std::string spaces = source_folder() / "tests/planted/search_spaces/";
  expect("--space " + spaces + "wide.json --device fake:measured",
         "run 1 is on space planted_faults");
  expect("--space " + FakeSession::faults_space() + " --device fake:predicted",
         "device fake GPU (measured)");
  expect("--space " + FakeSession::faults_space() + " --device fake:measured --shape ragged",
         "shape mission");
  expect("--space " + FakeSession::faults_space() + " --device fake:measured --offspring 99",
         "--offspring 99: run 1 can only be continued with its own value, 8");
  expect("--space " + FakeSession::faults_space() + " --device fake:measured --seed 99",
         "--seed 99: run 1");
  expect("--space " + FakeSession::faults_space() + " --device fake:measured --check-seed 99",
         "--check-seed 99: run 1 can only be continued with its own value");
  expect("--space " + FakeSession::faults_space() + " --device fake:measured --strategy random",
         "--strategy random: run 1");
  expect("--space " + FakeSession::faults_space() + " --device fake:measured --flush-l2",
         "started without --flush-l2");
}

TEST_F(DatabaseOption, AMistypedNameMakesNoDatabase) {
  const std::string record = "evo-record --count 2 --out r.json --device fake:measured ";
  for (const std::string& command :
       {std::string("evo-tune --device fake:measured --space none.json"),
        record + "--space none.json", FakeSession::tune("--resume"),
        FakeSession::tune("--resume 7 --db typo.db"),
        record + "--resume --space " + FakeSession::faults_space()}) {
    const ProgramResult result = session_.run(command);
    EXPECT_EQ(result.exit_code, 2) << command;
    EXPECT_TRUE(fs::is_empty(session_.folder())) << command;
  }
  (void)good_database();
  EXPECT_THAT(session_.run(FakeSession::tune("--resume --db god.db")).err,
              AllOf(HasSubstr("there is no file god.db"), HasSubstr("good.db")));
}

TEST_F(DatabaseOption, ADeletedDatabaseIsNotToBeContinued) {
  // RunningProgram drops standard error; "#" hides its redirection from the shell.
  RunningProgram program(FakeSession::tune(std::string(kRun) + "2>error #"), session_.folder(),
                         session_.environment() + " EVO_FAKE_COMPILE_MS=50");
  while (program.read_line().find(R"("event":"evaluated")") == std::string::npos) {
    ASSERT_TRUE(program.is_running());
  }
  for (const char* suffix : {"", "-wal", "-shm"}) {
    fs::remove(session_.path(std::string("evo.db") + suffix));
  }
  EXPECT_EQ(program.wait(), 2);
  EXPECT_THAT(read_text_file(session_.path("error")),
              AllOf(HasSubstr("its content is lost"), Not(HasSubstr("--resume"))));
}

TEST_F(DatabaseOption, CommandsForTheShellQuoteItsName) {
  const ProgramResult one = session_.run(FakeSession::tune("--generations 1 --db 'a b.db'"));
  EXPECT_THAT(one.out, HasSubstr("evo-export --db 'a b.db' --run 1 "));
  const ProgramResult all = session_.run(
      "evo-tune --device fake:measured --generations 1 --db "
      "'c d.db' " +
      session_.all_of_two_builds());
  EXPECT_THAT(all.out, HasSubstr("evo-export --db 'c d.db' --bundle DIR"));
}

}  // namespace
}  // namespace evo
