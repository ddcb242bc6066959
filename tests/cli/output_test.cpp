// Tests the programs with a standard output that cannot be written, and with closed standard
// streams.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "db/connection.hpp"
#include "engine/core/json_reader.hpp"
#include "tests/cli/fake_session.hpp"

namespace evo {
namespace {

using testing::HasSubstr;

/// Prepares input files in a folder, and lists commands of most programs that print something.
class Output : public testing::Test {
 protected:
  Output() {
    Store store = Store::open(session_.path("evo.db"));
    const RunId run = store.start_run(sample::run_info());
    EvaluationRecord green =
        sample::green(0, 0, store.put_compilation(sample::compilation("a")), 10);
    green.milestone = "baseline";
    green.manifest_json = R"({"entry": "k", "shape": {}, "arguments": [], "launch": {}})";
    const CandidateId best = store.record_evaluation(run, green);
    store.record_evaluation(run, sample::rejected(0, 1, {Gate::kBuild, "error: planted"}));
    store.record_generation(run, {.number = 0, .elite = {best}});
    store.finish_run(run, RunStatus::kFinished);
    write_file(session_.path("k.ptx"),
               ".version 8.0\n.target sm_89\n.address_size 64\n.visible .entry k()\n{\n ret;\n}\n");
  }

  std::vector<std::string> commands() const {
    std::vector<std::string> list = {
        "evo-elite",
        "evo-elite --json",
        "evo-elite --csv",
        "evo-elite milestones",
        "evo-elite rejections",
        "evo-elite runs",
        "evo-elite show 1",
        "evo-elite show 1 --json",
        "evo-elite compare 1 2",
        "evo-export --out out",
        "evo-report --out r.html",
        "evo-export --t4 t4.json --kernel-tuner-cache cache.json",
        "evo-ptx-run k.ptx --entry k",
        FakeSession::tune("--db new.db --generations 1 --offspring 1"),
        FakeSession::tune("--db new.db --generations 1 --offspring 1 --quiet"),
        FakeSession::tune("--db new.db --generations 1 --offspring 1 --json"),
        "evo-record --count 2 --out r.json --db new.db --device fake:measured --space " +
            FakeSession::faults_space(),
        FakeSession::judge(""),
        FakeSession::judge("--json"),
        // While a worker runs, this command prints to standard error that times are predicted. If
        // standard error is closed, the text must not go to the socket of the worker.
        "evo-judge --device fake:predicted --space " + FakeSession::faults_space(),
    };
    for (const char* program : {"evo-tune", "evo-judge", "evo-elite", "evo-export", "evo-predict",
                                "evo-report", "evo-worker"}) {
      list.push_back(std::string(program) + " --version");
    }
    for (const char* program : {"evo-tune", "evo-judge", "evo-elite", "evo-export", "evo-init",
                                "evo-replay", "evo-record", "evo-report", "evo-predict",
                                "evo-ptx-run", "search-ablation", "virtual-launch"}) {
      list.push_back(std::string(program) + " --help");
    }
    return list;
  }

  /// Runs a command with shell text before and after it, for example "(" and "2>&- )".
  ProgramResult run_within(const std::string& start, const std::string& command,
                           const std::string& end) const {
    return run_program(command + " " + end, session_.folder(),
                       start + " " + session_.environment());
  }

  FakeSession session_;
};

TEST_F(Output, ThatArrivesEndsAsUsual) {
  for (const std::string& command : commands()) {
    const ProgramResult result = session_.run(command);
    EXPECT_EQ(result.exit_code, 0) << command << "\n" << result.err;
    EXPECT_NE(result.out, "") << command;
  }
}

TEST_F(Output, ToAFullDiskIsNoSuccess) {
  for (const std::string& command : commands()) {
    const ProgramResult result = session_.run(command + " >/dev/full");
    EXPECT_EQ(result.exit_code, 2) << command;
    EXPECT_THAT(result.err, HasSubstr("standard output: ")) << command;
  }
}

TEST_F(Output, ThatIsClosedIsNoSuccess) {
  for (const std::string& command : commands()) {
    const ProgramResult result = session_.run(command + " >&-");
    EXPECT_EQ(result.exit_code, 2) << command;
    EXPECT_THAT(result.err, HasSubstr("standard output: ")) << command;
  }
}

TEST_F(Output, ToAReaderThatWentAwayIsNoSuccessAndNoDeathByASignal) {
  for (const std::string& command : commands()) {
    (void)run_within("{ sleep 0.02; env", command, "2>/dev/null; echo $? > code; } | :");
    EXPECT_EQ(read_text_file(session_.path("code")), "2\n") << command;
  }
}

TEST_F(Output, AFailureKeepsItsOwnExitCode) {
  EXPECT_EQ(session_.run(FakeSession::judge("--set BUG=stale") + " >/dev/full").exit_code, 1);
}

TEST_F(Output, StandardErrorMayBeClosed) {
  for (const std::string& command : commands()) {
    for (const char* closed : {"2>&- )", "<&- 2>&- )"}) {
      const ProgramResult result = run_within("(", command, closed);
      EXPECT_EQ(result.exit_code, 0) << command << closed;
      EXPECT_NE(result.out, "") << command << closed;
    }
  }
}

TEST_F(Output, ClosedDescriptorsNeverBecomeTheDatabaseOrASocket) {
  const std::string command = FakeSession::tune("--db closed.db --generations 2 --offspring 4");
  for (const char* closed : {"<&- >&- 2>&- )", "2>&- )", ">&- )", "<&- )", "<&- 2>&- )"}) {
    (void)run_within("(", command, closed);
    SQLite::Database database(session_.path("closed.db"), SQLite::OPEN_READWRITE);
    EXPECT_EQ(database.execAndGet("PRAGMA integrity_check").getString(), "ok") << closed;
    EXPECT_EQ(database.execAndGet("SELECT status FROM run ORDER BY id DESC LIMIT 1").getString(),
              "finished")
        << closed;
  }
}

}  // namespace
}  // namespace evo
